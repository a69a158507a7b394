//! How long each kind of call may take.
//!
//! A deadline is the client's own: the loop that called looks again afterwards, so a call that gives up costs one
//! more look, and one that waits for ever costs the operation.

use std::time::Duration;

/// One candidate address: resolving, connecting, the handshake and the machine's first byte. Three attempts of TCP's
/// first packet (at 0, 1 and 3 seconds) and a slow machine's handshake fit in.
pub const DIAL: Duration = Duration::from_secs(10);

/// One candidate address while a plan is made: a refresh of a thousand machines must not wait for dead ones.
pub const DIAL_WHILE_PLANNING: Duration = Duration::from_secs(2);

/// A call that the machine answers from its memory.
pub const CALL: Duration = Duration::from_secs(30);

/// Applying a configuration: the machine validates it, and since Talos 1.13 waits up to 10 seconds for its own
/// services before it answers.
pub const APPLY: Duration = Duration::from_secs(60);

/// Calls that etcd has to agree on. Talos itself gives its etcd client half a minute, and retries.
pub const ETCD: Duration = Duration::from_secs(60);

/// Reading logs and events to their end.
pub const LOGS: Duration = Duration::from_secs(15);

/// An event stream doesn't end by itself: the past is over when nothing came for so long.
pub const QUIET: Duration = Duration::from_millis(500);

/// What a health check gets on top of the time that the machine itself was given for it, so that the machine's own
/// answer, which names the check, comes first.
pub const HEALTH_CHECK_MARGIN: Duration = Duration::from_secs(15);

/// How long the machine may keep silent after the handshake before we speak first. A Talos machine speaks at once;
/// waiting for it is what makes the refusal of a certificate readable.
pub const FIRST_BYTE: Duration = Duration::from_secs(3);
