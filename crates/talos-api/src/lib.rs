//! Client and server code of the Talos API, generated from the protos in `proto/talos` and `proto/cosi`.
//!
//! Packages, names and numbers are those of Talos 1.9 to 1.14; each module is a package. What neither the provider
//! calls nor the simulator serves is left out: unknown fields are skipped by the decoder, and a method that isn't
//! there is answered with `Unimplemented` by whoever serves.
//!
//! - [`machine`]: the machine's own service, and since Talos 1.13 its image and lifecycle services
//! - [`cluster`], [`storage`], [`time`], [`inspect`]: the smaller services
//! - [`cosi`]: the state service, through which a machine shows its resources
//! - [`resource`]: the specifications of those resources, carried as [`cosi::Spec::proto_spec`]

mod generated {
    #![expect(
        missing_docs,
        unreachable_pub,
        unused_qualifications,
        clippy::allow_attributes,
        clippy::allow_attributes_without_reason,
        clippy::missing_errors_doc,
        reason = "generated: messages that explain themselves have no comment, and paths are always full"
    )]

    tonic::include_proto!("modules");
}

pub use generated::cosi::resource as cosi;
pub use generated::google::rpc;
pub use generated::{cluster, common, inspect, machine, storage, time};

/// Specifications of COSI resources, by Talos' packages.
pub mod resource {
    pub use crate::generated::resource::config;
    pub use crate::generated::talos::resource::definitions::{
        block, cluster, enums, etcd, extensions, hardware, k8s, network, runtime, time, v1alpha1,
    };
}

/// The compiled protos as an encoded `google.protobuf.FileDescriptorSet`, to compare with Talos' own.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
