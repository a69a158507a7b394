//! The plugin process, which Terraform or OpenTofu starts.

use std::process::ExitCode;

use kontinuum::provider::Kontinuum;

fn main() -> ExitCode {
    kontinuum::plugin::serve(Kontinuum)
}
