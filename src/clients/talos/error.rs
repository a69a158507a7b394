//! What went wrong, and what it means. Codes and kinds are judged here and nowhere else; texts never are.

use std::time::Duration;

use thiserror::Error;
use tonic::{Code, Status};

use super::fingerprint::Fingerprint;

/// A call, or the dialling before it, that failed: where, and by what [`Fault`].
#[derive(Debug, Error)]
#[error("{act} {target}")]
pub struct Error {
    act: String,
    target: String,
    #[source]
    fault: Fault,
}

/// The kinds of failure.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// Credentials that we were given can't be used. Final.
    #[error("the credentials are unusable: {0}")]
    Credentials(String),
    /// The name has no address.
    #[error("the name does not resolve: {0}")]
    Unresolved(String),
    /// Nothing listens: the machine is there, its API is not (yet).
    #[error("connection refused")]
    Refused,
    /// The network has no way there.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// No answer in time.
    #[error("no answer within {}", seconds(.0))]
    Silent(Duration),
    /// The connection ended before its work was done.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The machine asks for a client certificate: it is configured already.
    #[error("the machine is already configured: it asks for a client certificate")]
    CertificateRequired,
    /// The machine shows the certificate of maintenance mode: it is not configured, or not any more.
    #[error("the machine is in maintenance mode: it has no configuration")]
    InMaintenance,
    /// The machine's certificate, or ours at the machine, was signed by another authority: another cluster's machine.
    #[error("the machine belongs to another cluster: its certificates are signed by another authority")]
    Foreign,
    /// The machine's certificate has ended; the clocks differ, since machines renew theirs every twelve hours.
    #[error("the machine's certificate has expired: one of the two clocks is wrong")]
    Expired,
    /// The machine's certificate starts in our future: its clock is ahead of ours.
    #[error("the machine's certificate is not valid yet: one of the two clocks is wrong")]
    NotYetValid,
    /// The machine finds our certificate expired or not yet valid.
    #[error("the machine finds our certificate expired or not yet valid: one of the two clocks is wrong")]
    OursExpired,
    /// The machine refuses our certificate for what stands in it.
    #[error("the machine refuses our certificate: {0}")]
    OursRefused(String),
    /// The machine's certificate doesn't name the address that we dialled.
    #[error("the machine's certificate does not name this address: add it to machine.certSANs")]
    WrongName,
    /// Not the machine that was named by its fingerprint.
    #[error(
        "the machine's certificate has the fingerprint {found}, expected {expected}: compare it with the console's"
    )]
    WrongFingerprint {
        /// What the certificate has.
        found: Fingerprint,
        /// What was asked for.
        expected: Fingerprint,
    },
    /// Something answers, but not a Talos machine in maintenance mode.
    #[error("not a Talos machine in maintenance mode: its certificate is for {0:?}")]
    NotTalos(String),
    /// The handshake failed in another way.
    #[error("the TLS handshake failed: {0}")]
    Handshake(String),
    /// The machine answered the call with an error.
    #[error("{} ({code:?})", if .message.is_empty() { "the machine gave no reason" } else { .message })]
    Status {
        /// The gRPC code.
        code: Code,
        /// The machine's text, without the differences of configurations that Talos appends: those hold secrets.
        message: String,
    },
    /// The answer isn't one that Talos gives.
    #[error("the answer is not as expected: {0}")]
    Malformed(String),
}

impl Error {
    pub(super) fn new(act: impl Into<String>, target: &str, fault: Fault) -> Self {
        Self { act: act.into(), target: target.to_owned(), fault }
    }

    /// What went wrong.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.fault
    }

    /// The gRPC code with which the machine answered, if it did.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        if let Fault::Status { code, .. } = self.fault { Some(code) } else { None }
    }

    /// Whether the same call can succeed later without anybody changing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.fault.is_transient()
    }
}

impl Fault {
    /// Whether the same call can succeed later without anybody changing anything.
    ///
    /// A machine in maintenance mode may become configured, one with a wrong clock gets its time from the network,
    /// and a certificate is made anew when addresses change: all of these are looked at again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unresolved(_)
            | Self::Refused
            | Self::Unreachable(_)
            | Self::Silent(_)
            | Self::Lost(_)
            | Self::InMaintenance
            | Self::Expired
            | Self::NotYetValid
            | Self::OursExpired
            | Self::WrongName
            | Self::Handshake(_) => true,
            Self::Credentials(_)
            | Self::CertificateRequired
            | Self::Foreign
            | Self::OursRefused(_)
            | Self::WrongFingerprint { .. }
            | Self::NotTalos(_)
            | Self::Malformed(_) => false,
            Self::Status { code, .. } => code_is_transient(*code),
        }
    }

    /// Whether the machine did not answer at all, as opposed to answering something.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::Unresolved(_) | Self::Refused | Self::Unreachable(_) | Self::Silent(_) | Self::Lost(_)
        )
    }

    /// A status that tonic gave: the machine's, or one made here of a broken connection.
    pub(super) fn of_status(status: &Status) -> Self {
        // What tonic's generated clients say of a connection that ended before the call, as a text alone.
        if let Some(ended) = status.message().strip_prefix("Service was not ready: ") {
            return Self::Lost(ended.to_owned());
        }
        // Other statuses made on our side have a source: the machine's come from headers.
        match std::error::Error::source(status) {
            Some(source) => Self::Lost(root_cause(source)),
            None => {
                Self::Status { code: status.code(), message: without_difference(status.message()).to_owned() }
            }
        }
    }
}

/// Codes that a machine gives while it is on its way somewhere. `Unknown` is one of them: Talos wraps whatever its
/// etcd client or a file says into it.
fn code_is_transient(code: Code) -> bool {
    match code {
        Code::Ok
        | Code::Cancelled
        | Code::Unknown
        | Code::DeadlineExceeded
        | Code::NotFound
        | Code::ResourceExhausted
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::Internal
        | Code::Unavailable => true,
        Code::InvalidArgument
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::OutOfRange
        | Code::Unimplemented
        | Code::DataLoss
        | Code::Unauthenticated => false,
    }
}

/// Cuts the text where Talos appends the difference between two configurations, keys and all.
pub(super) fn without_difference(text: &str) -> &str {
    let cut = ["diff:", "Config diff:", "--- ", "+++ ", "@@ "]
        .iter()
        .filter_map(|marker| {
            let at_start = text.starts_with(marker).then_some(0);
            at_start.or_else(|| text.find(&format!("\n{marker}")))
        })
        .min();
    text.get(..cut.unwrap_or(text.len())).unwrap_or_default().trim_end()
}

fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

fn seconds(duration: &Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_the_end_of_failed_to() {
        let error = Error::new("dial", "10.0.0.5:50000", Fault::Refused);
        assert_eq!(
            format!("failed to {error}: {}", error.fault()),
            "failed to dial 10.0.0.5:50000: connection refused"
        );
        assert_eq!(Fault::Silent(Duration::from_millis(2500)).to_string(), "no answer within 2.5 s");
    }

    #[test]
    fn final_codes_are_not_tried_again_and_all_others_are() {
        for code in [Code::InvalidArgument, Code::Unimplemented, Code::PermissionDenied] {
            assert!(!Fault::Status { code, message: String::new() }.is_transient(), "{code:?}");
        }
        let ended = Fault::of_status(&Status::unknown("Service was not ready: channel closed"));
        assert_eq!(ended, Fault::Lost("channel closed".to_owned()));
        for code in [Code::Unavailable, Code::FailedPrecondition, Code::Unknown, Code::DeadlineExceeded] {
            assert!(Fault::Status { code, message: String::new() }.is_transient(), "{code:?}");
        }
    }

    #[test]
    fn a_difference_of_configurations_never_reaches_a_message() {
        let text =
            "this config change can't be applied in immediate mode\ndiff:\n-    key: LS0tLS1\n+    key: LS0t";
        let fault = Fault::of_status(&Status::invalid_argument(text));
        assert_eq!(
            fault.to_string(),
            "this config change can't be applied in immediate mode (InvalidArgument)"
        );
        assert_eq!(without_difference("Dry run summary:\nConfig diff:\n\n--- a\n+++ b"), "Dry run summary:");
        assert_eq!(without_difference("--- a\n+++ b\n"), "");
        assert_eq!(without_difference("unknown keys found"), "unknown keys found");
    }

    #[test]
    fn a_status_made_of_a_broken_connection_is_not_the_machine_s_answer() {
        let status = Status::from_error(Box::new(std::io::Error::other("broken pipe")));
        assert_eq!(Fault::of_status(&status), Fault::Lost("broken pipe".to_owned()));
    }
}
