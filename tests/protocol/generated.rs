//! The client half of the generated protocol code, which the library keeps to itself.

#![expect(
    unused_qualifications,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated"
)]

include!(concat!(env!("OUT_DIR"), "/protocol.rs"));
