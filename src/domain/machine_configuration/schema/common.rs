//! Keys that several sections share.

use super::Kind::{Base64, Bool};
use super::{Field, always, optional};

/// A certificate with its key.
pub(super) const CERTIFICATE_AND_KEY: &[Field] = &[always("crt", Base64), always("key", Base64)];

/// A certificate alone.
pub(super) const CERTIFICATE: &[Field] = &[always("crt", Base64)];

/// A key alone.
pub(super) const KEY: &[Field] = &[always("key", Base64)];

/// What can only be turned off.
pub(super) const SWITCH: &[Field] = &[optional("disabled", Bool)];
