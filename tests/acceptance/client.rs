//! The clients: OpenTofu, its oldest supported release, and Terraform.

use std::path::PathBuf;

use libtest_mimic::Failed;

use crate::lab;

/// A program that drives providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// The lab's OpenTofu.
    OpenTofu,
    /// The lab's OpenTofu of the oldest supported release.
    OldestOpenTofu,
    /// Terraform from `PATH`: it cannot be built from modules.
    Terraform,
}

impl Client {
    /// Every client.
    pub(crate) const ALL: [Self; 3] = [Self::OpenTofu, Self::OldestOpenTofu, Self::Terraform];

    /// Its name in the names of cases.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OpenTofu => "tofu",
            Self::OldestOpenTofu => "tofu-1.6",
            Self::Terraform => "terraform",
        }
    }

    /// Whether it can be run here. One that can be built always can: its absence is a failure, not a skip.
    pub(crate) fn is_available(self) -> bool {
        match self {
            Self::OpenTofu | Self::OldestOpenTofu => true,
            Self::Terraform => lab::on_path("terraform").is_some(),
        }
    }

    /// The program.
    pub(crate) fn program(self) -> Result<PathBuf, Failed> {
        match self {
            Self::OpenTofu | Self::OldestOpenTofu => lab::program(self.name()),
            Self::Terraform => {
                lab::on_path("terraform").ok_or_else(|| "terraform is not on PATH: install it".into())
            }
        }
    }
}
