//! Steering a running simulator by a socket in its data folder.
//!
//! One JSON line asks, one answers. The socket is only for the user who runs the simulator.

mod client;
mod server;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::kubernetes::{Fate, Workload};
use crate::simulator::MachineStatus;

pub use client::{AskError, ask};
pub use server::{ServeError, Server};

/// What can be asked of a running simulator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Request {
    /// All machines and their stages.
    Status,
    /// A fault for a machine.
    Fault {
        /// Its name.
        machine: String,
        /// The fault.
        with: Fault,
    },
    /// No more faults for a machine.
    ClearFaults {
        /// Its name.
        machine: String,
    },
    /// A machine's power button.
    Power {
        /// Its name.
        machine: String,
        /// On or off.
        on: bool,
    },
    /// What happens to a workload's pods.
    Fate {
        /// The workload's namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// What happens.
        fate: PodFate,
    },
}

/// What happens to pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum PodFate {
    /// They run and become ready.
    Healthy,
    /// Their image cannot be pulled.
    ImagePullError,
    /// They end again and again.
    CrashLoop {
        /// With this exit code.
        #[arg(long, default_value_t = 1)]
        exit_code: i32,
    },
    /// They run and never become ready.
    NeverReady,
}

/// The answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Done.
    Done,
    /// The machines.
    Status(Vec<MachineStatus>),
    /// Not done, and why.
    Refused(String),
}

impl From<PodFate> for Fate {
    fn from(fate: PodFate) -> Self {
        match fate {
            PodFate::Healthy => Self::Healthy,
            PodFate::ImagePullError => Self::ImagePullError,
            PodFate::CrashLoop { exit_code } => Self::CrashLoop { exit_code },
            PodFate::NeverReady => Self::NeverReady,
        }
    }
}

/// The socket in a data folder.
fn socket(data: &Path) -> PathBuf {
    data.join("control.sock")
}

/// The workload of a request.
fn workload(namespace: String, name: String) -> Workload {
    Workload { namespace, name }
}
