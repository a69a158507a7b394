//! What can go wrong between us and an API server, sorted once and for all.
//!
//! Status codes and reasons are read here and nowhere else. Callers ask [`Error::is_transient`] ("is another
//! look worth it?") or match on [`Error::cause`].

use kube::core::Status;

use super::object::Reference;

/// A result of this client.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A request to a Kubernetes API server that failed. Its text completes "failed to …"; the cause is its source.
#[derive(Debug, thiserror::Error)]
#[error("{attempt}")]
pub struct Error {
    attempt: String,
    #[source]
    cause: Cause,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The kubeconfig cannot be used.
    #[error("the kubeconfig cannot be used")]
    Kubeconfig(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No answer: refused, no route, reset, not resolved.
    #[error("no answer from {server}")]
    Unreachable {
        /// The address that was dialled.
        server: String,
        /// What the network said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server's certificate is not one that the kubeconfig's authority vouches for, now and for this address.
    #[error("the certificate of {server} is not accepted")]
    Untrusted {
        /// The address that was dialled.
        server: String,
        /// What the verification said.
        #[source]
        source: rustls::Error,
    },
    /// No complete answer within the call's own deadline.
    #[error("no answer from {server} within {seconds} s")]
    TimedOut {
        /// The address that was asked.
        server: String,
        /// The call's deadline, in seconds.
        seconds: u64,
    },
    /// 401: the server does not accept our credentials.
    #[error("the credentials are not accepted: {0}")]
    Unauthorized(String),
    /// 403: our credentials are known, but they may not do this (or an admission policy refuses it).
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// 404: the object does not exist.
    #[error("it does not exist")]
    NotFound,
    /// The server serves no such kind.
    #[error("the API server serves no {kind} in {api_version}")]
    NoSuchKind {
        /// The group and version asked for.
        api_version: String,
        /// The kind asked for.
        kind: String,
    },
    /// 409: an object of this name exists already.
    #[error("it exists already")]
    AlreadyExists,
    /// 409: the object changed since it was read.
    #[error("it was changed by someone else meanwhile")]
    Stale,
    /// 409: server-side apply found fields that another manager owns with other values.
    #[error("{}", describe(.0))]
    FieldConflicts(Vec<FieldConflict>),
    /// The object exists and is not ours to change.
    #[error("{0}")]
    NotOurs(String),
    /// Someone else is at work on it.
    #[error("{0}")]
    Held(String),
    /// A chart does not render, or asks for something that is not done here.
    #[error("the chart cannot be used: {0}")]
    Chart(String),
    /// 400 or 422: the server calls the object wrong.
    #[error("the API server refuses it: {0}")]
    Invalid(String),
    /// An admission webhook did not answer the API server.
    #[error("an admission webhook does not answer: {0}")]
    Webhook(String),
    /// 410: the version of the list asked for is no longer kept.
    #[error("the requested version is no longer kept")]
    Expired,
    /// 429 or 5xx: the server is not able to answer now.
    #[error("the API server cannot answer now ({status}): {message}")]
    Busy {
        /// The HTTP status.
        status: u16,
        /// What the server said.
        message: String,
    },
    /// An answer that this client does not understand.
    #[error("the answer is not understood: {0}")]
    Unreadable(String),
}

/// One field that server-side apply would take away from another manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldConflict {
    /// Who owns the field, as the API server words it (`"kubectl" using apps/v1`).
    pub manager: String,
    /// The path of the field, such as `.spec.replicas`.
    pub field: String,
}

impl Error {
    /// `attempt` completes "failed to …".
    pub(crate) fn new(attempt: impl Into<String>, cause: Cause) -> Self {
        Self { attempt: attempt.into(), cause }
    }

    /// Why the request failed.
    #[must_use]
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Whether the same request may succeed later although nobody changes anything on purpose.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match &self.cause {
            Cause::Unreachable { .. }
            | Cause::TimedOut { .. }
            | Cause::Stale
            | Cause::Held(_)
            | Cause::Webhook(_)
            | Cause::Expired
            | Cause::Busy { .. } => true,
            Cause::Untrusted { source, .. } => depends_on_the_clock(source),
            Cause::Kubeconfig(_)
            | Cause::Unauthorized(_)
            | Cause::Forbidden(_)
            | Cause::NotFound
            | Cause::NoSuchKind { .. }
            | Cause::AlreadyExists
            | Cause::FieldConflicts(_)
            | Cause::NotOurs(_)
            | Cause::Chart(_)
            | Cause::Invalid(_)
            | Cause::Unreadable(_) => false,
        }
    }

    /// Whether the object asked for does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self.cause, Cause::NotFound)
    }

    /// Whether the server answered, so that its silence is not the trouble.
    #[must_use]
    pub fn is_an_answer(&self) -> bool {
        !matches!(
            self.cause,
            Cause::Kubeconfig(_)
                | Cause::Unreachable { .. }
                | Cause::Untrusted { .. }
                | Cause::TimedOut { .. }
        )
    }
}

/// What the network itself said; the layers between only repeat that the request failed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

impl Cause {
    /// Sorts what kube reports; `server` is the address that was asked.
    pub(crate) fn of(error: kube::Error, server: &str) -> Self {
        if let kube::Error::Api(status) = &error {
            return Self::of_status(status);
        }
        if matches!(error, kube::Error::BuildRequest(_) | kube::Error::HttpError(_)) {
            return Self::Invalid(error.to_string());
        }
        if matches!(error, kube::Error::FromUtf8(_) | kube::Error::SerdeError(_)) {
            return Self::Unreadable(error.to_string());
        }
        match verification_failure(&error) {
            Some(source) => Self::Untrusted { server: server.to_owned(), source },
            None => Self::Unreachable { server: server.to_owned(), source: innermost(&error).into() },
        }
    }

    /// Sorts an API server's refusal
    /// (<https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#http-status-codes>).
    fn of_status(status: &Status) -> Self {
        let message = status.message.clone();
        match status.code {
            401 => Self::Unauthorized(message),
            403 if passes_by_itself(status) => Self::Busy { status: 403, message },
            403 => Self::Forbidden(message),
            404 => Self::NotFound,
            409 if status.reason == "AlreadyExists" => Self::AlreadyExists,
            409 => match field_conflicts(status) {
                conflicts if conflicts.is_empty() => Self::Stale,
                conflicts => Self::FieldConflicts(conflicts),
            },
            410 => Self::Expired,
            400 | 405 | 406 | 413 | 415 | 422 => Self::Invalid(message),
            500 if message.contains("failed calling webhook") => Self::Webhook(message),
            // A field that the kind does not have, found by server-side apply, comes as 500 and stays.
            500 if message.contains("failed to create typed patch object") => Self::Invalid(message),
            code @ (408 | 429 | 500..) => Self::Busy { status: code, message },
            code => Self::Unreadable(format!("status {code}: {message}")),
        }
    }
}

/// The cause of a failed look at `object`, in the words of all calls.
pub(crate) fn attempt(verb: &str, object: &Reference) -> String {
    format!("{verb} {object}")
}

/// Two refusals come as 403 and mean "not yet": admission that has not filled its caches, right after the server
/// started, and a namespace that is being deleted.
fn passes_by_itself(status: &Status) -> bool {
    let terminating = status
        .details
        .iter()
        .flat_map(|details| &details.causes)
        .any(|cause| cause.reason == "NamespaceTerminating");
    terminating || status.message.contains("not yet ready to handle request")
}

fn field_conflicts(status: &Status) -> Vec<FieldConflict> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes
        .filter(|cause| cause.reason == "FieldManagerConflict")
        .map(|cause| FieldConflict {
            manager: cause.message.trim_start_matches("conflict with ").to_owned(),
            field: cause.field.clone(),
        })
        .collect()
}

fn describe(conflicts: &[FieldConflict]) -> String {
    let fields: Vec<_> = conflicts
        .iter()
        .map(|conflict| format!("{} (managed by {})", conflict.field, conflict.manager))
        .collect();
    format!("fields are managed by someone else with other values: {}", fields.join(", "))
}

/// rustls' verdict on a certificate, wherever the HTTP stack has wrapped it.
fn verification_failure(error: &kube::Error) -> Option<rustls::Error> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = next {
        if let Some(failure) = current.downcast_ref::<rustls::Error>() {
            return matches!(failure, rustls::Error::InvalidCertificate(_)).then(|| failure.clone());
        }
        // What an io::Error wraps is not its source, and it may be wrapped more than once.
        let wrapped = current.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => current.source(),
        };
    }
    None
}

/// A certificate that is not yet valid becomes so, and a wrong clock is set by time synchronisation.
fn depends_on_the_clock(failure: &rustls::Error) -> bool {
    use rustls::CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
    matches!(
        failure,
        rustls::Error::InvalidCertificate(
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. }
        )
    )
}

#[cfg(test)]
mod tests {
    use kube::core::response::{StatusCause, StatusDetails};

    use super::*;

    fn refusal(code: u16, reason: &str, message: &str) -> Status {
        Status::failure(message, reason).with_code(code)
    }

    fn with_cause(status: Status, reason: &str, message: &str, field: &str) -> Status {
        let cause = StatusCause { reason: reason.into(), message: message.into(), field: field.into() };
        let details = StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: vec![cause],
            retry_after_seconds: 0,
        };
        status.with_details(details)
    }

    fn is_transient(status: &Status) -> bool {
        Error::new("look", Cause::of_status(status)).is_transient()
    }

    #[test]
    fn wrong_credentials_and_missing_permission_are_told_apart() {
        assert!(matches!(Cause::of_status(&refusal(401, "Unauthorized", "")), Cause::Unauthorized(_)));
        assert!(matches!(Cause::of_status(&refusal(403, "Forbidden", "no")), Cause::Forbidden(_)));
        assert!(!is_transient(&refusal(401, "Unauthorized", "")));
        assert!(!is_transient(&refusal(403, "Forbidden", "no")));
    }

    #[test]
    fn a_403_of_a_server_that_just_started_is_another_look() {
        assert!(is_transient(&refusal(
            403,
            "Forbidden",
            "pods \"a\" is forbidden: not yet ready to handle request"
        )));
    }

    #[test]
    fn a_namespace_on_its_way_out_is_another_look() {
        let status = with_cause(refusal(403, "Forbidden", "forbidden"), "NamespaceTerminating", "", "");
        assert!(is_transient(&status));
    }

    #[test]
    fn conflicts_of_apply_name_the_manager_and_the_field() {
        let status = with_cause(
            refusal(409, "Conflict", "Apply failed with 1 conflict"),
            "FieldManagerConflict",
            "conflict with \"kubectl\" using apps/v1",
            ".spec.replicas",
        );
        let cause = Cause::of_status(&status);
        let text = cause.to_string();
        assert!(matches!(cause, Cause::FieldConflicts(_)));
        assert!(text.contains(".spec.replicas (managed by \"kubectl\" using apps/v1)"), "{text}");
        assert!(!is_transient(&status));
    }

    #[test]
    fn the_three_meanings_of_409_are_told_apart() {
        assert!(matches!(Cause::of_status(&refusal(409, "AlreadyExists", "")), Cause::AlreadyExists));
        assert!(matches!(Cause::of_status(&refusal(409, "Conflict", "modified")), Cause::Stale));
        assert!(is_transient(&refusal(409, "Conflict", "modified")));
        assert!(!is_transient(&refusal(409, "AlreadyExists", "")));
    }

    #[test]
    fn a_silent_webhook_is_another_look_and_a_refused_object_is_not() {
        let silent = refusal(500, "InternalError", "Internal error occurred: failed calling webhook \"w\"");
        assert!(matches!(Cause::of_status(&silent), Cause::Webhook(_)));
        assert!(is_transient(&silent));
        assert!(!is_transient(&refusal(422, "Invalid", "spec.selector: field is immutable")));
        let unknown = "failed to create typed patch object (a/b; /v1, Kind=ConfigMap): .x: field not declared in schema";
        assert!(!is_transient(&refusal(500, "InternalError", unknown)));
    }
}
