//! What is checked of all machines before any of them is touched.

use std::collections::BTreeMap;

use ipnet::IpNet;

use super::disk::{self, DiskError};
use super::spec::{Member, Role};
use crate::domain::machine::{Facts, InstallDisk};
use crate::domain::version::Version;

/// Talos' health check wants this much memory of a control plane (1.13: 1698 MiB) …
const CONTROL_PLANE_MEMORY: u64 = 1698 << 20;
/// … and this much of a worker (874 MiB).
const WORKER_MEMORY: u64 = 874 << 20;

/// A machine that would be configured.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// Its place in the cluster.
    pub member: &'a Member,
    /// What it said of itself.
    pub facts: &'a Facts,
    /// Which disk its owner wants.
    pub install_disk: Option<&'a InstallDisk>,
}

/// What is wrong with a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The instance's name.
    pub machine: String,
    /// What is wrong, and what to do.
    pub text: String,
}

/// Checks all machines that would be configured against each other, the cluster's subnets and its contract.
#[must_use]
pub fn check(subjects: &[Subject<'_>], subnets: &[IpNet], contract_minor: Option<u64>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for subject in subjects {
        let machine = subject.member.name.to_string();
        let texts = [
            disk_problem(subject),
            memory_problem(subject),
            subnet_problem(subject, subnets),
            version_problem(subject, contract_minor),
        ];
        findings.extend(texts.into_iter().flatten().map(|text| Finding { machine: machine.clone(), text }));
    }
    findings.extend(equal_hostnames(subjects));
    findings
}

fn disk_problem(subject: &Subject<'_>) -> Option<String> {
    disk::resolve(subject.install_disk, &subject.facts.disks).err().map(|error: DiskError| error.to_string())
}

fn memory_problem(subject: &Subject<'_>) -> Option<String> {
    let needed = match subject.member.role {
        Role::ControlPlane => CONTROL_PLANE_MEMORY,
        Role::Worker => WORKER_MEMORY,
    };
    // Firmware that tells no memory modules shows as none: that is unknown, and not too little.
    let told = subject.facts.memory_bytes > 0;
    (told && subject.facts.memory_bytes < needed).then(|| {
        format!(
            "it has {} MiB of memory, and Talos wants {} MiB of a {} machine: its health check would never pass",
            subject.facts.memory_bytes >> 20,
            needed >> 20,
            subject.member.role
        )
    })
}

fn subnet_problem(subject: &Subject<'_>, subnets: &[IpNet]) -> Option<String> {
    let address: std::net::IpAddr = subject.facts.address.as_str().parse().ok()?;
    let subnet = subnets.iter().find(|subnet| subnet.contains(&address))?;
    Some(format!(
        "its address {address} lies in the cluster's pod or service subnet {subnet}: change the subnets by a \
         configuration patch (cluster.network.podSubnets, serviceSubnets), or the machine's address"
    ))
}

fn version_problem(subject: &Subject<'_>, contract_minor: Option<u64>) -> Option<String> {
    let contract = contract_minor?;
    let running = Version::parse(&subject.facts.talos_version, "v1.13.9").ok()?;
    (running.minor() < contract).then(|| {
        format!(
            "it runs Talos {running}, older than the cluster's configuration contract 1.{contract}: boot it from a \
             medium of Talos 1.{contract} or newer"
        )
    })
}

fn equal_hostnames(subjects: &[Subject<'_>]) -> Vec<Finding> {
    let mut by_hostname: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for subject in subjects {
        by_hostname.entry(subject.member.hostname.as_str()).or_default().push(subject.member.name.as_str());
    }
    by_hostname
        .into_iter()
        .filter(|(_, names)| names.len() > 1)
        .map(|(hostname, names)| Finding {
            machine: names[0].to_owned(),
            text: format!("its host name {hostname:?} is also that of {}", names[1..].join(", ")),
        })
        .collect()
}
