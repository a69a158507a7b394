//! `terraform-registry-manifest.json`, by which the registries tell clients what the provider speaks.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::root;

/// Longer than a busy machine takes to start a program.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_registry_manifest_names_the_protocol_that_the_program_speaks() {
    let manifest = std::fs::read_to_string(root().join("terraform-registry-manifest.json"));
    let manifest: Value = serde_json::from_str(&manifest.expect("there is one")).expect("it is JSON");
    assert_eq!(manifest["version"], 1, "the manifest's own format");
    assert_eq!(
        manifest["metadata"]["protocol_versions"],
        serde_json::json!([format!("{}.0", spoken().await)])
    );
}

/// The protocol's major version that the program announces to a client that could speak either: the second field of
/// go-plugin's handshake.
async fn spoken() -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_terraform-provider-kontinuum"))
        .env("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2")
        .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
        .env("PLUGIN_UNIX_SOCKET_DIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(program.stdout.take().expect("stdout is piped")).lines();
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("it says something in time");
    let line = line.expect("stdout can be read").expect("a line comes");
    line.split('|').nth(1).expect("a handshake has fields").to_owned()
}
