//! Where an installation goes, and what it leaves. Pure.

use super::disk::Installed;
use crate::configuration::Install;
use crate::world::{Disk, Size, TalosVersion, Transport};

/// Plans an installation on these disks; the error is what the installer would say.
///
/// `instead` is another version than the image's, by fault.
pub(super) fn plan(
    install: Option<&Install>,
    disks: &[Disk],
    instead: Option<TalosVersion>,
) -> Result<Installed, String> {
    let install = install.ok_or("no installation is configured")?;
    let disk = target(install, disks)?;
    let (version, schematic) = image(&install.image)?;
    Ok(Installed { disk: disk.name.clone(), version: instead.unwrap_or(version), schematic })
}

/// The disk that is named, else the first one that the selector matches, as Talos takes it.
fn target<'a>(install: &Install, disks: &'a [Disk]) -> Result<&'a Disk, String> {
    if !install.disk.is_empty() {
        let named = disks.iter().find(|disk| disk.path() == install.disk);
        return named
            .ok_or_else(|| format!("failed to open disk {}: no such file or directory", install.disk));
    }
    let selector =
        install.disk_selector.as_ref().ok_or("either install disk or diskSelector should be defined")?;
    for disk in disks {
        let mut all = true;
        for (key, wanted) in selector {
            let wanted = wanted.as_str().map_or_else(|| wanted.to_string(), str::to_owned);
            all &= matches(disk, key, &wanted)?;
        }
        if all {
            return Ok(disk);
        }
    }
    Err("no disks matched the selector".to_owned())
}

/// Whether a disk fits one key of a selector (Talos: `InstallDiskSelector`).
fn matches(disk: &Disk, key: &str, wanted: &str) -> Result<bool, String> {
    Ok(match key {
        "size" => size_matches(disk.size, wanted)?,
        "name" => glob(&disk.path(), wanted) || glob(&disk.name, wanted),
        "model" => glob(&disk.model, wanted),
        "serial" => glob(&disk.serial, wanted),
        "wwid" => glob(&disk.wwid, wanted),
        "busPath" => glob(&disk.bus_path, wanted),
        "type" => kind(disk) == wanted,
        other => return Err(format!("the simulated disks have no {other} to select by")),
    })
}

fn kind(disk: &Disk) -> &'static str {
    match (disk.transport, disk.rotational) {
        (Transport::Nvme, _) => "nvme",
        (Transport::Mmc, _) => "sd",
        (_, true) => "hdd",
        (_, false) => "ssd",
    }
}

/// A condition such as `>= 100GB`; without an operator it is equality.
fn size_matches(size: Size, condition: &str) -> Result<bool, String> {
    let split = condition.find(|character: char| character.is_ascii_digit()).unwrap_or(condition.len());
    let (operator, number) = condition.split_at(split);
    let wanted: Size = number.trim().parse().map_err(|error| format!("disk selector's size: {error}"))?;
    match operator.trim() {
        ">=" => Ok(size >= wanted),
        ">" => Ok(size > wanted),
        "<=" => Ok(size <= wanted),
        "<" => Ok(size < wanted),
        "" | "==" => Ok(size == wanted),
        other => Err(format!("disk selector's size: unknown operator {other:?}")),
    }
}

/// Shell-like: `*` stands for anything.
fn glob(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((prefix, rest)) => text.strip_prefix(prefix).is_some_and(|text| {
            rest.is_empty() || (0..=text.len()).any(|at| text.get(at..).is_some_and(|tail| glob(tail, rest)))
        }),
    }
}

/// Version and schematic of an installer's image; the error is what the installer would say, e.g. `factory.talos.dev/metal-installer/<schematic>:v1.13.9`.
pub(crate) fn image(reference: &str) -> Result<(TalosVersion, Option<String>), String> {
    let untagged = reference.split_once('@').map_or(reference, |(image, _)| image);
    let (name, tag) = untagged.rsplit_once(':').ok_or_else(|| {
        format!("failed to pull installer image {reference:?}: expected a tag such as v1.13.9")
    })?;
    let version =
        tag.parse().map_err(|error| format!("failed to pull installer image {reference:?}: {error}"))?;
    let last = name.rsplit('/').next().unwrap_or_default();
    let is_schematic = last.len() == 64 && last.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok((version, is_schematic.then(|| last.to_owned())))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn install(disk: &str, selector: &[(&str, &str)], image: &str) -> Install {
        let selector: BTreeMap<_, _> =
            selector.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        Install {
            disk: disk.to_owned(),
            disk_match: None,
            disk_selector: (!selector.is_empty()).then_some(selector),
            image: image.to_owned(),
            wipe: false,
            extra_kernel_args: Vec::new(),
        }
    }

    fn disks() -> [Disk; 2] {
        [Disk::blank("sda", Size::of_gibibytes(64)), Disk::blank("sdb", Size::of_gibibytes(256))]
    }

    #[test]
    fn the_image_decides_what_boots_afterwards() {
        let schematic = "ab".repeat(32);
        let image = format!("factory.talos.dev/metal-installer/{schematic}:v1.12.4");
        let installed = plan(Some(&install("/dev/sda", &[], &image)), &disks(), None).unwrap();
        assert_eq!(
            (installed.version.to_string().as_str(), installed.schematic),
            ("v1.12.4", Some(schematic))
        );
        let other =
            plan(Some(&install("/dev/sda", &[], "x:v1.13.9")), &disks(), "v1.13.2".parse().ok()).unwrap();
        assert_eq!(other.version.to_string(), "v1.13.2");
    }

    #[test]
    fn the_first_disk_that_fits_the_selector_is_taken() {
        let large = install("", &[("size", ">= 100GB"), ("model", "SIM*DISK")], "x:v1.13.9");
        assert_eq!(plan(Some(&large), &disks(), None).unwrap().disk, "sdb");
        let any = install("", &[("type", "ssd")], "x:v1.13.9");
        assert_eq!(plan(Some(&any), &disks(), None).unwrap().disk, "sda");
    }

    #[test]
    fn a_disk_that_is_not_there_and_an_image_without_a_version_fail_the_installation() {
        assert!(
            plan(Some(&install("/dev/sdz", &[], "x:v1.13.9")), &disks(), None)
                .unwrap_err()
                .contains("/dev/sdz")
        );
        assert!(plan(Some(&install("/dev/sda", &[], "x")), &disks(), None).unwrap_err().contains("tag"));
        assert!(
            plan(Some(&install("/dev/sda", &[], "x:v2.0.0")), &disks(), None).unwrap_err().contains("v2.0.0")
        );
    }
}
