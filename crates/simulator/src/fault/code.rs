//! Status codes of gRPC by the names that Talos' own client prints.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tonic::Code;

/// A status code, written as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusCode(pub Code);

/// A text that is no status code's name.
#[derive(Debug, thiserror::Error)]
#[error("expected the name of a gRPC status code such as Unavailable, but got {0:?}")]
pub struct InvalidCode(String);

/// All codes with their names, as in <https://grpc.io/docs/guides/status-codes/> but in Go's spelling.
const NAMES: [(Code, &str); 17] = [
    (Code::Ok, "OK"),
    (Code::Cancelled, "Canceled"),
    (Code::Unknown, "Unknown"),
    (Code::InvalidArgument, "InvalidArgument"),
    (Code::DeadlineExceeded, "DeadlineExceeded"),
    (Code::NotFound, "NotFound"),
    (Code::AlreadyExists, "AlreadyExists"),
    (Code::PermissionDenied, "PermissionDenied"),
    (Code::ResourceExhausted, "ResourceExhausted"),
    (Code::FailedPrecondition, "FailedPrecondition"),
    (Code::Aborted, "Aborted"),
    (Code::OutOfRange, "OutOfRange"),
    (Code::Unimplemented, "Unimplemented"),
    (Code::Internal, "Internal"),
    (Code::Unavailable, "Unavailable"),
    (Code::DataLoss, "DataLoss"),
    (Code::Unauthenticated, "Unauthenticated"),
];

impl StatusCode {
    /// The code's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find_map(|(code, name)| (*code == self.0).then_some(*name)).unwrap_or("Unknown")
    }
}

impl std::str::FromStr for StatusCode {
    type Err = InvalidCode;

    fn from_str(text: &str) -> Result<Self, InvalidCode> {
        let found = NAMES.iter().find_map(|(code, name)| (*name == text).then_some(Self(*code)));
        found.ok_or_else(|| InvalidCode(text.to_owned()))
    }
}

impl std::fmt::Display for StatusCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Serialize for StatusCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for StatusCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
