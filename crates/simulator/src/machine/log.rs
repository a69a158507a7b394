//! What a machine tells while it runs: its kernel log and its events.

use std::collections::VecDeque;
use std::sync::Mutex;

use jiff::Timestamp;
use prost::Message;
use prost_types::Any;
use talos_api::machine::Event;
use tokio::sync::watch;

use crate::locked;

/// Kernel lines and events that are kept; Talos keeps 1,000 events.
const KEPT: usize = 1000;

/// Kernel log and events of one boot.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Mutex<VecDeque<String>>,
    events: Mutex<VecDeque<Entry>>,
    written: watch::Sender<u64>,
    booted: Timestamp,
}

/// An event with its number, by which readers go on.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) time: Timestamp,
    pub(crate) event: Event,
}

impl Log {
    /// An empty log of a boot that begins now.
    pub(crate) fn new() -> Self {
        Self {
            lines: Mutex::default(),
            events: Mutex::default(),
            written: watch::Sender::new(0),
            booted: Timestamp::now(),
        }
    }

    /// Writes a line of Talos to the kernel log, in its format.
    pub(crate) fn kernel(&self, text: &str) {
        let now = Timestamp::now();
        let since = now.duration_since(self.booted).as_secs_f64();
        let line = format!("user: warning: [{now:.9}]: [talos] {since:.6} {text}\n");
        self.push_line(line);
    }

    /// The kernel log so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        locked(&self.lines).iter().cloned().collect()
    }

    /// Publishes an event: its message under the type URL that Talos gives it.
    pub(crate) fn publish(&self, name: &str, message: &impl Message, actor: &str) {
        let data = Any { type_url: format!("talos/runtime/{name}"), value: message.encode_to_vec() };
        let mut events = locked(&self.events);
        let number = events.back().map_or(1, |last| last.number + 1);
        let event = Event {
            metadata: None,
            data: Some(data),
            // Talos' ids sort by time; so do these.
            id: format!("{:013x}{number:07x}", Timestamp::now().as_millisecond()),
            actor_id: actor.to_owned(),
        };
        if events.len() == KEPT {
            events.pop_front();
        }
        events.push_back(Entry { number, time: Timestamp::now(), event });
        drop(events);
        self.written.send_modify(|count| *count += 1);
    }

    /// The events so far.
    pub(crate) fn events(&self) -> Vec<Entry> {
        locked(&self.events).iter().cloned().collect()
    }

    /// Wakes whoever waits for a line or an event.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.written.subscribe()
    }

    fn push_line(&self, line: String) {
        let mut lines = locked(&self.lines);
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(line);
        drop(lines);
        self.written.send_modify(|count| *count += 1);
    }
}
