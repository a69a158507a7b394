//! The generated code of `proto/tfplugin6` and `proto/goplugin`.

#![expect(
    unreachable_pub,
    unused_qualifications,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated; the client half is the tests'"
)]

include!(concat!(env!("OUT_DIR"), "/protocol.rs"));
