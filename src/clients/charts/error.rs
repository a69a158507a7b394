//! What can go wrong with fetching a chart.

use super::source::SourceError;

/// A result of this client.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A chart that could not be fetched. Its text completes "failed to …"; the cause is its source.
#[derive(Debug, thiserror::Error)]
#[error("{attempt}")]
pub struct Error {
    attempt: String,
    #[source]
    cause: Cause,
}

/// Why.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The HTTP client cannot be set up.
    #[error("HTTPS cannot be set up")]
    Setup(#[source] reqwest::Error),
    /// The source's text names no place.
    #[error(transparent)]
    Source(SourceError),
    /// No answer, or not all of it, within the limits.
    #[error("no answer from {url}")]
    Unreachable {
        /// What was asked.
        url: String,
        /// What the network said.
        #[source]
        source: reqwest::Error,
    },
    /// An answer that is no success.
    #[error("{url} answers {status}")]
    Status {
        /// What was asked.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The registry or the repository asks for a login.
    #[error(
        "{0} asks for a login, which is not supported: mirror the chart to a place that is readable without one"
    )]
    LoginRequired(String),
    /// More bytes than a thing of this kind may have.
    #[error("{url} is larger than {limit} bytes")]
    TooLarge {
        /// What was asked.
        url: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// HTTPS leads to plain HTTP, or a registry's answer leads elsewhere.
    #[error("{0} leads to plain HTTP")]
    Downgrade(String),
    /// What came is not what was promised.
    #[error("{what} has the digest {found}, expected {expected}")]
    Digest {
        /// What was checked.
        what: String,
        /// The digest of what came.
        found: String,
        /// The promised digest.
        expected: String,
    },
    /// The repository has no such chart.
    #[error("{place} has no chart {name}")]
    NoChart {
        /// The repository.
        place: String,
        /// The chart asked for.
        name: String,
    },
    /// No published version is what was asked for.
    #[error("no version satisfies {wanted:?}; the newest are {newest}")]
    NoVersion {
        /// The version or constraint.
        wanted: String,
        /// The newest published versions.
        newest: String,
    },
    /// The version is neither one nor a constraint.
    #[error("{0:?} is neither a version nor a constraint")]
    NotAVersion(String),
    /// The local chart is another version than was asked for.
    #[error("the chart at {path} is version {found}, asked for is {wanted}: set the version that is there")]
    OtherVersion {
        /// The chart's path.
        path: String,
        /// The chart's version.
        found: String,
        /// The version asked for.
        wanted: String,
    },
    /// An answer that this client does not understand.
    #[error("{url} is not understood: {problem}")]
    Unreadable {
        /// What was asked.
        url: String,
        /// What is wrong.
        problem: String,
    },
    /// A file or folder that cannot be read.
    #[error("{path} cannot be read")]
    File {
        /// Its path.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The archive or folder is no chart.
    #[error("it is no usable chart")]
    Chart(#[source] Box<helm::LoadError>),
}

impl Error {
    pub(super) fn new(attempt: &str, cause: Cause) -> Self {
        Self { attempt: attempt.to_owned(), cause }
    }

    /// Why the chart could not be fetched.
    #[must_use]
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Whether the same request may succeed later although nobody changes anything on purpose.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.cause.is_transient()
    }
}

impl Cause {
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500..),
            Self::Setup(_)
            | Self::Source(_)
            | Self::LoginRequired(_)
            | Self::TooLarge { .. }
            | Self::Downgrade(_)
            | Self::Digest { .. }
            | Self::NoChart { .. }
            | Self::NoVersion { .. }
            | Self::NotAVersion(_)
            | Self::OtherVersion { .. }
            | Self::Unreadable { .. }
            | Self::File { .. }
            | Self::Chart(_) => false,
        }
    }
}
