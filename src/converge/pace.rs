//! How long the loop pauses between two looks, when nothing wakes it.

use std::time::Duration;

use tokio::time::Instant;

/// While something happens, the next change is near …
const EAGER: Duration = Duration::from_millis(250);
/// … which is taken to last this long after the last act; …
const EAGER_FOR: Duration = Duration::from_secs(60);
/// … later a look costs more than it brings.
const PATIENT: Duration = Duration::from_secs(2);

/// The pace of one loop.
#[derive(Debug)]
pub(super) struct Pace {
    since: Instant,
    is_stalled: bool,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), is_stalled: false }
    }

    pub(super) fn progressed(&mut self) {
        self.since = Instant::now();
    }

    /// Nothing is to be had by hurrying.
    pub(super) fn stalled(&mut self) {
        self.is_stalled = true;
    }

    pub(super) fn pause(&mut self) -> Duration {
        if std::mem::take(&mut self.is_stalled) {
            return PATIENT;
        }
        if self.since.elapsed() < EAGER_FOR { EAGER } else { PATIENT }
    }
}
