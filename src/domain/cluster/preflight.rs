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
    /// The subnets of pods and services in the configuration that it would get.
    pub subnets: Vec<IpNet>,
}

/// What is wrong with a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The instance's name.
    pub machine: String,
    /// What is wrong, and what to do.
    pub text: String,
}

/// Checks all machines that would be configured against the cluster's subnets, its contract, and each other and the
/// `others` that are members already.
#[must_use]
pub fn check(subjects: &[Subject<'_>], others: &[&Member], contract_minor: Option<u64>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for subject in subjects {
        let machine = subject.member.name.to_string();
        let texts = [
            disk_problem(subject),
            memory_problem(subject),
            subnet_problem(subject),
            version_problem(subject, contract_minor),
        ];
        findings.extend(texts.into_iter().flatten().map(|text| Finding { machine: machine.clone(), text }));
    }
    findings.extend(equal_hostnames(subjects, others));
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

fn subnet_problem(subject: &Subject<'_>) -> Option<String> {
    let address: std::net::IpAddr = subject.facts.address.as_str().parse().ok()?;
    let subnet = subject.subnets.iter().find(|subnet| subnet.contains(&address))?;
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

/// A note on machines that are newer than every contract that is known here.
#[must_use]
pub fn newer(subjects: &[Subject<'_>], newest_minor: u64) -> Option<String> {
    let is_newer = |subject: &&Subject<'_>| {
        let running = Version::parse(&subject.facts.talos_version, "v1.13.9");
        running.is_ok_and(|running| (running.major(), running.minor()) > (1, newest_minor))
    };
    let names: Vec<String> = subjects
        .iter()
        .filter(is_newer)
        .map(|subject| format!("{} (Talos {})", subject.member.name, subject.facts.talos_version))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: configured in the form of Talos 1.{newest_minor}, the newest that this provider knows; newer machines \
             take it",
            names.join(", ")
        )
    })
}

fn equal_hostnames(subjects: &[Subject<'_>], others: &[&Member]) -> Vec<Finding> {
    let mut by_hostname: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let members = subjects.iter().map(|subject| subject.member);
    for member in members.clone().chain(others.iter().copied()) {
        by_hostname.entry(member.hostname.as_str()).or_default().push(member.name.as_str());
    }
    // Members of old are not judged again.
    by_hostname.retain(|hostname, _| members.clone().any(|member| member.hostname.as_str() == *hostname));
    by_hostname
        .into_iter()
        .filter(|(_, names)| names.len() > 1)
        .map(|(hostname, names)| Finding {
            machine: names[0].to_owned(),
            text: format!("its host name {hostname:?} is also that of {}", names[1..].join(", ")),
        })
        .collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::domain::machine::Disk;
    use crate::domain::names::{Address, Label, Uid};

    fn member(name: &str, hostname: &str, role: Role) -> Member {
        Member {
            uid: Uid::new(name),
            name: Label::parse(name).unwrap(),
            hostname: Label::parse(hostname).unwrap(),
            role,
            pool: String::new(),
            installs: 0,
            tries: 0,
            unproven: false,
            addresses: std::collections::BTreeSet::new(),
            asks_for_certificate: false,
        }
    }

    fn facts(address: &str) -> Facts {
        let disk = Disk {
            device_path: "/dev/sda".to_owned(),
            size_bytes: 64 << 30,
            transport: "sata".to_owned(),
            ..Disk::default()
        };
        Facts {
            address: Address::parse(address).unwrap(),
            talos_version: "v1.13.9".to_owned(),
            uuid: String::new(),
            serial_number: String::new(),
            links: Vec::new(),
            disks: vec![disk],
            processor_count: 4,
            memory_bytes: 8 << 30,
            secure_boot: false,
            schematic: String::new(),
        }
    }

    fn subject<'a>(member: &'a Member, facts: &'a Facts, subnets: &[&str]) -> Subject<'a> {
        let subnets = subnets.iter().map(|subnet| subnet.parse().unwrap()).collect();
        Subject { member, facts, install_disk: None, subnets }
    }

    fn texts(subjects: &[Subject<'_>], others: &[&Member]) -> Vec<String> {
        let findings = check(subjects, others, Some(13));
        findings.into_iter().map(|finding| format!("{}: {}", finding.machine, finding.text)).collect()
    }

    #[test]
    fn a_machine_that_fits_is_not_talked_of() {
        let (member, facts) = (member("a", "a", Role::ControlPlane), facts("10.0.0.1"));
        assert_eq!(texts(&[subject(&member, &facts, &["10.244.0.0/16"])], &[]), [""; 0]);
    }

    #[test]
    fn an_address_counts_against_the_subnets_that_the_machine_would_get() {
        let (member, facts) = (member("a", "a", Role::Worker), facts("10.96.0.7"));
        let defaults = texts(&[subject(&member, &facts, &["10.244.0.0/16", "10.96.0.0/12"])], &[]);
        assert!(
            defaults[0].contains("lies in the cluster's pod or service subnet 10.96.0.0/12"),
            "{defaults:?}"
        );
        assert_eq!(texts(&[subject(&member, &facts, &["172.20.0.0/16", "172.21.0.0/16"])], &[]), [""; 0]);
    }

    #[test]
    fn a_new_machine_takes_no_member_s_host_name() {
        let (new, old) = (member("b", "node", Role::Worker), member("a", "node", Role::ControlPlane));
        let facts = facts("10.0.0.1");
        let found = texts(&[subject(&new, &facts, &[])], &[&old]);
        assert_eq!(found, ["b: its host name \"node\" is also that of a"]);
        assert_eq!(texts(&[], &[&old, &new]), [""; 0], "members of old are not judged again");
    }

    #[test]
    fn too_little_memory_and_an_old_medium_are_told_with_what_is_needed() {
        let member = member("a", "a", Role::ControlPlane);
        let facts = Facts { memory_bytes: 1 << 30, talos_version: "v1.12.4".to_owned(), ..facts("10.0.0.1") };
        let found = texts(&[subject(&member, &facts, &[])], &[]);
        assert!(found[0].contains("1024 MiB of memory, and Talos wants 1698 MiB"), "{found:?}");
        assert!(found[1].contains("boot it from a medium of Talos 1.13 or newer"), "{found:?}");
    }

    #[test]
    fn a_machine_newer_than_every_contract_is_noted_and_not_refused() {
        let member = member("a", "a", Role::Worker);
        let at = |version: &str| Facts { talos_version: version.to_owned(), ..facts("10.0.0.1") };
        let noted = newer(&[subject(&member, &at("v1.14.0-beta.0"), &[])], 13);
        assert_eq!(
            noted.as_deref(),
            Some(
                "a (Talos v1.14.0-beta.0): configured in the form of Talos 1.13, the newest that this provider knows; \
                 newer machines take it"
            )
        );
        assert_eq!(texts(&[subject(&member, &at("v1.14.0-beta.0"), &[])], &[]), [""; 0]);
        assert_eq!(newer(&[subject(&member, &at("v1.13.99"), &[])], 13), None);
    }
}
