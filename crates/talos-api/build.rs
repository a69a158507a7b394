//! Compiles the protos of `proto/talos` and `proto/cosi` into client and server code.

use std::error::Error;
use std::path::PathBuf;

const INCLUDES: [&str; 2] = ["../../proto/talos", "../../proto/cosi"];

const FILES: [&str; 22] = [
    "cluster/cluster.proto",
    "common/common.proto",
    "google/rpc/status.proto",
    "inspect/inspect.proto",
    "machine/image.proto",
    "machine/lifecycle.proto",
    "machine/machine.proto",
    "resource.proto",
    "resource/block.proto",
    "resource/cluster.proto",
    "resource/config.proto",
    "resource/etcd.proto",
    "resource/extensions.proto",
    "resource/hardware.proto",
    "resource/k8s.proto",
    "resource/network.proto",
    "resource/runtime.proto",
    "resource/time.proto",
    "resource/v1alpha1.proto",
    "state.proto",
    "storage/storage.proto",
    "time/time.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    for folder in INCLUDES {
        println!("cargo::rerun-if-changed={folder}");
    }
    let mut compiler = protox::Compiler::new(INCLUDES)?;
    compiler.include_imports(true).open_files(FILES)?;
    let output = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(output.join("descriptors.bin"), compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure()
        // The same message is the same bytes, run after run.
        .btree_map(".")
        .include_file("modules.rs")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
