//! The event log: one entry for each request a machine got and each change of its state.
//!
//! Entries hold names, roles, methods and codes; never a request's or an answer's content, which may be secret.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::watch;

use crate::fault::StatusCode;
use crate::locked;
use crate::machine::Stage;

/// How many entries are kept in memory for [`Events::history`]; a file holds all of them.
const KEPT: usize = 100_000;

/// An entry of the log, in a file one line of JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// When it began, by the true time (machines' clocks may be off).
    pub time: Timestamp,
    /// The machine's name.
    pub machine: String,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// A call of the API, written when it ended.
    Request {
        /// `package.Service/Method`.
        method: String,
        /// Roles with which the call was judged.
        roles: Vec<String>,
        /// Common name of the client's certificate, if it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        common_name: Option<String>,
        /// Status with which it ended: `Canceled` when the caller went away first.
        code: StatusCode,
        /// How long it took.
        milliseconds: f64,
        /// The fault that it met, by name.
        #[serde(skip_serializing_if = "Option::is_none")]
        fault: Option<&'static str>,
    },
    /// A connection on which no request could be made.
    Refused {
        /// Why, as TLS says it.
        reason: String,
    },
    /// The machine's stage changed.
    Stage {
        /// The stage it is in now.
        stage: Stage,
    },
    /// The API listens.
    Listening {
        /// Where.
        address: SocketAddr,
        /// With mutual TLS, or in maintenance mode.
        mutual: bool,
    },
    /// The API listens no longer.
    Closed,
    /// A service of the machine changed its state.
    Service {
        /// Its id.
        id: String,
        /// Its state.
        state: String,
        /// Healthy or not.
        healthy: bool,
    },
    /// Something failed on the machine, in the words of its own log.
    Failure {
        /// What.
        message: String,
    },
}

/// The log of a simulator.
#[derive(Debug)]
pub struct Events {
    file: Option<Mutex<File>>,
    history: Mutex<VecDeque<Event>>,
    written: watch::Sender<u64>,
}

impl Events {
    /// A log that is also appended to a file, if one is named.
    ///
    /// # Errors
    /// When the file cannot be opened for appending.
    pub fn open(file: Option<&Path>) -> std::io::Result<Self> {
        let file = file.map(|path| File::options().create(true).append(true).open(path)).transpose()?;
        Ok(Self { file: file.map(Mutex::new), history: Mutex::default(), written: watch::Sender::new(0) })
    }

    /// The entries so far, the last 100,000 of them.
    #[must_use]
    pub fn history(&self) -> Vec<Event> {
        locked(&self.history).iter().cloned().collect()
    }

    /// Waits until an entry, past or future, is one that is `wanted`. The caller bounds the wait.
    pub async fn wait_for(&self, wanted: impl Fn(&Event) -> bool) -> Event {
        let mut written = self.written.subscribe();
        loop {
            written.mark_unchanged();
            if let Some(event) = locked(&self.history).iter().find(|event| wanted(event)) {
                return event.clone();
            }
            if written.changed().await.is_err() {
                // The sender lives as long as `self`: this cannot come, and pending is the honest answer if it does.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until the log has more than so many entries. The caller bounds the wait.
    pub async fn grows_beyond(&self, entries: usize) {
        let mut written = self.written.subscribe();
        // The sender lives as long as `self`.
        let _waited = written.wait_for(|_| locked(&self.history).len() > entries).await;
    }

    /// Appends an entry of now.
    pub(crate) fn record(&self, machine: &str, kind: EventKind) {
        self.record_at(Timestamp::now(), machine, kind);
    }

    /// Appends an entry of an earlier moment.
    pub(crate) fn record_at(&self, time: Timestamp, machine: &str, kind: EventKind) {
        let event = Event { time, machine: machine.to_owned(), kind };
        if let Some(file) = &self.file {
            append(file, &event);
        }
        let mut history = locked(&self.history);
        if history.len() == KEPT {
            history.pop_front();
        }
        history.push_back(event);
        drop(history);
        self.written.send_modify(|count| *count += 1);
    }
}

/// Writes one line. A full disk must not stop the machines, so a failure is only reported.
fn append(file: &Mutex<File>, event: &Event) {
    let line = match serde_json::to_string(event) {
        Ok(line) => line + "\n",
        Err(error) => return tracing::error!(%error, "failed to encode an event"),
    };
    if let Err(error) = locked(file).write_all(line.as_bytes()) {
        tracing::error!(%error, "failed to write the event log");
    }
}
