//! Real OpenTofu and Terraform drive the built provider against simulated machines.
//!
//! A case is a function over a [`rig::Rig`], which holds everything that one run needs: a network of its own, a
//! simulator, a root module and a client. After a case has passed, all that its commands showed and logged is searched
//! for secrets. `cargo test --test acceptance -- NAME` runs the cases with NAME in their names; with
//! `KONTINUUM_KEEP=1` in the environment the folders of the runs stay, and their paths are shown.

mod cases;
mod charts;
mod client;
mod cluster;
mod golden;
mod lab;
mod process;
mod rig;
mod secrets;
mod simulator;
mod subnet;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if arguments.test_threads.is_none() {
        // Cases wait for machines and clocks more than they compute.
        arguments.test_threads = std::thread::available_parallelism().ok().map(|cores| cores.get() + 1);
    }
    libtest_mimic::run(&arguments, cases::all()).exit_code()
}
