//! Compiles the protos of `proto/tfplugin6` and `proto/goplugin` into server and client code.

use std::error::Error;

const INCLUDES: [&str; 2] = ["proto/tfplugin6", "proto/goplugin"];

const FILES: [&str; 3] = ["tfplugin6.proto", "plugin.proto", "health.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    for folder in INCLUDES {
        println!("cargo::rerun-if-changed={folder}");
    }
    let descriptors = protox::compile(FILES, INCLUDES)?;
    // A call without an implementation is answered with UNIMPLEMENTED, which clients take as "has none".
    tonic_prost_build::configure()
        .generate_default_stubs(true)
        .btree_map(".")
        // Messages of calls that are not served, and those that only name the scope of others. (On a module,
        // rustc does not count this lint as expected.)
        .message_attribute(".", "#[allow(dead_code)]")
        .include_file("protocol.rs")
        .compile_fds(descriptors)?;
    Ok(())
}
