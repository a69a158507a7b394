//! From when and until when certificates hold.

use std::time::Duration;

use jiff::Timestamp;
use rcgen::{CertificateParams, date_time_ymd};

/// How long an authority holds: Talos' ten years of 365 days.
const AUTHORITY_LIFETIME: Duration = Duration::from_secs(87_600 * 3600);

/// How long our own certificates hold: a year, as Talos' and `kubeadm`'s.
pub const LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);

/// How far in the past our own certificates start, so that a machine whose clock is behind ours takes them too.
pub const BACKDATED: Duration = Duration::from_secs(3600);

/// Makes it an authority's certificate from `now` on.
pub(super) fn of_authority(parameters: &mut CertificateParams, now: Timestamp) {
    between(parameters, now.as_second(), AUTHORITY_LIFETIME);
}

/// Makes it a client's certificate, backdated.
pub(super) fn of_client(parameters: &mut CertificateParams, now: Timestamp) {
    let backdated = i64::try_from(BACKDATED.as_secs()).unwrap_or_default();
    between(parameters, now.as_second().saturating_sub(backdated), LIFETIME + BACKDATED);
}

fn between(parameters: &mut CertificateParams, from: i64, lifetime: Duration) {
    // Before 1970 there was no clock that we could read it from.
    let from = Duration::from_secs(u64::try_from(from).unwrap_or_default());
    let start = date_time_ymd(1970, 1, 1);
    (parameters.not_before, parameters.not_after) = (start + from, start + from + lifetime);
}
