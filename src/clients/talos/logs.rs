//! What a machine's log says of a failure.

use prost::Message;
use talos_api::common::ContainerDriver;
use talos_api::machine::{
    ConfigLoadErrorEvent, ConfigValidationErrorEvent, DmesgRequest, Event, EventsRequest, LogsRequest,
    SequenceEvent, ServiceStateEvent, service_state_event,
};
use tonic::Code;

use super::deadline::{LOGS, QUIET};
use super::error::Error;
use super::session::Session;

/// How many lines of the kernel's log are worth quoting.
const QUOTED_LINES: usize = 5;

/// Kernel priorities from "error" up, as Talos writes them.
const ERRORS: [&str; 4] = ["err", "crit", "alert", "emerg"];

impl Session {
    /// The last lines of a service's log.
    pub(super) async fn service_log(&self, service: &str, lines: u16) -> Result<String, Error> {
        let request = LogsRequest {
            namespace: "system".to_owned(),
            id: service.to_owned(),
            driver: ContainerDriver::Containerd.into(),
            follow: false,
            tail_lines: i32::from(lines),
        };
        let pieces = self.collect("Logs", LOGS, self.machine().logs(request)).await?;
        let bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.bytes).collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The last event that tells of a failure, and the kernel's last errors: what a person would look for first.
    /// `None` if there is nothing of the kind, or if the machine doesn't show it (in maintenance mode before 1.13).
    pub(super) async fn last_failure(&self) -> Result<Option<String>, Error> {
        let events = self.past_events().await;
        let kernel_log = self.kernel_log().await;
        let unsupported = |error: &Error| error.code() == Some(Code::Unimplemented);
        let (event, lines) = match (events, kernel_log) {
            (Err(error), _) | (_, Err(error)) if !unsupported(&error) => return Err(error),
            (events, log) => (
                events.ok().and_then(|events| events.iter().rev().find_map(failure)),
                log.map(|log| kernel_errors(&log)).unwrap_or_default(),
            ),
        };
        let parts: Vec<String> = event.into_iter().chain(lines).collect();
        Ok((!parts.is_empty()).then(|| parts.join("\n")))
    }

    /// The events since the machine started. The stream goes on with new ones: the past is over when nothing came
    /// for [`QUIET`].
    async fn past_events(&self) -> Result<Vec<Event>, Error> {
        let request = EventsRequest { tail_events: -1, ..EventsRequest::default() };
        let mut machine = self.machine();
        let past = async {
            let mut stream = machine.events(request).await?.into_inner();
            let mut events = Vec::new();
            while let Ok(item) = tokio::time::timeout(QUIET, stream.message()).await {
                match item? {
                    Some(event) => events.push(event),
                    None => break,
                }
            }
            Ok(tonic::Response::new(events))
        };
        self.call("Events", LOGS, past).await
    }

    async fn kernel_log(&self) -> Result<String, Error> {
        let request = DmesgRequest { follow: false, tail: false };
        let pieces = self.collect("Dmesg", LOGS, self.machine().dmesg(request)).await?;
        let lines = pieces.iter().map(|piece| String::from_utf8_lossy(&piece.bytes));
        Ok(lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n"))
    }
}

/// What an event tells of a failure, if it does.
fn failure(event: &Event) -> Option<String> {
    let data = event.data.as_ref()?;
    // Talos' own prefix, not the usual `type.googleapis.com/`.
    let name = data.type_url.rsplit('/').next()?;
    let bytes = data.value.as_slice();
    match name.strip_prefix("machine.")? {
        "SequenceEvent" => {
            let event = SequenceEvent::decode(bytes).ok()?;
            let error = event.error?.message;
            Some(format!("{}: {error}", event.sequence))
        }
        "ServiceStateEvent" => {
            let event = ServiceStateEvent::decode(bytes).ok()?;
            let failed = event.action() == service_state_event::Action::Failed;
            failed.then(|| format!("service {}: {}", event.service, event.message))
        }
        "ConfigLoadErrorEvent" => Some(ConfigLoadErrorEvent::decode(bytes).ok()?.error),
        "ConfigValidationErrorEvent" => Some(ConfigValidationErrorEvent::decode(bytes).ok()?.error),
        _ => None,
    }
}

/// The last lines that the kernel, or Talos through it, logged as errors. A line reads
/// `facility: priority: [time]: text`.
fn kernel_errors(log: &str) -> Vec<String> {
    let is_error = |line: &&str| {
        let priority = line.split(':').nth(1).map_or("", str::trim);
        let of_talos = line.contains("[talos]") && (line.contains("error") || line.contains("failed"));
        ERRORS.contains(&priority) || of_talos
    };
    let lines: Vec<&str> = log.lines().filter(is_error).collect();
    let first = lines.len().saturating_sub(QUOTED_LINES);
    lines.iter().skip(first).map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use talos_api::common;

    use super::*;

    fn event<M: Message>(name: &str, message: &M) -> Event {
        let data = prost_types::Any {
            type_url: format!("talos/runtime/machine.{name}"),
            value: message.encode_to_vec(),
        };
        Event { data: Some(data), ..Event::default() }
    }

    #[test]
    fn only_failures_are_quoted() {
        let error =
            common::Error { message: "failed to pull the installer".to_owned(), ..common::Error::default() };
        let failed =
            SequenceEvent { sequence: "install".to_owned(), error: Some(error), ..SequenceEvent::default() };
        assert_eq!(
            failure(&event("SequenceEvent", &failed)).as_deref(),
            Some("install: failed to pull the installer")
        );
        let fine = SequenceEvent { sequence: "boot".to_owned(), ..SequenceEvent::default() };
        assert_eq!(failure(&event("SequenceEvent", &fine)), None);
        let service = |action: service_state_event::Action| ServiceStateEvent {
            service: "etcd".to_owned(),
            action: action.into(),
            message: "Condition failed".to_owned(),
            health: None,
        };
        let failed = service(service_state_event::Action::Failed);
        assert_eq!(
            failure(&event("ServiceStateEvent", &failed)).as_deref(),
            Some("service etcd: Condition failed")
        );
        let running = service(service_state_event::Action::Running);
        assert_eq!(failure(&event("ServiceStateEvent", &running)), None);
    }

    #[test]
    fn the_kernel_s_last_errors_are_quoted() {
        let mut log = vec!["kern:    info: [2026-01-01T00:00:00Z]: failed to be of interest".to_owned()];
        log.extend(
            (0..9).map(|number| format!("kern:     err: [2026-01-01T00:00:0{number}Z]: I/O error {number}")),
        );
        log.push(
            "user: warning: [2026-01-01T00:00:10Z]: [talos] task install: failed: no such disk".to_owned(),
        );
        let quoted = kernel_errors(&log.join("\n"));
        assert_eq!(quoted.len(), QUOTED_LINES);
        assert!(quoted.first().is_some_and(|line| line.ends_with("I/O error 5")), "{quoted:?}");
        assert!(quoted.last().is_some_and(|line| line.ends_with("no such disk")), "{quoted:?}");
    }
}
