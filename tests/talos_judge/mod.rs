//! The lab's programs that answer one question on Talos' own library.

use std::io::Write;
use std::process::{Command, Stdio};

#[path = "../talos_lab/mod.rs"]
mod talos_lab;

/// Runs a program of the lab with this input, and gives its output. It must succeed.
pub(crate) fn ask(name: &str, input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(talos_lab::program(name))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
