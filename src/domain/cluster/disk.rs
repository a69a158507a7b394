//! Which disk Talos goes on: exactly one, or a reason why not.

use thiserror::Error;

use super::quantity;
use crate::domain::machine::{Disk, InstallDisk};

/// Talos refuses to install on less (its EPHEMERAL partition alone wants 6 GiB from 1.13 on).
pub const MINIMUM_BYTES: u64 = 10 << 30;

/// Why no disk could be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DiskError {
    /// No disk matches.
    #[error("no disk matches {wanted}; the machine has {listed}")]
    None {
        /// What was asked for.
        wanted: String,
        /// The machine's disks.
        listed: String,
    },
    /// Several match.
    #[error(
        "{count} disks match {wanted}: {listed}; say which by its serial or wwid in the instance's `install_disk`"
    )]
    Several {
        /// What was asked for.
        wanted: String,
        /// How many match.
        count: usize,
        /// Those that match.
        listed: String,
    },
    /// The one that matches holds something else.
    #[error(
        "disk {disk} holds {content}, which an installation would erase; set `install_disk.overwrite = true` if that \
         is meant"
    )]
    Foreign {
        /// The disk.
        disk: String,
        /// What is on it.
        content: String,
    },
    /// The one that matches is too small.
    #[error("disk {disk} is too small: Talos needs {} GiB", MINIMUM_BYTES >> 30)]
    TooSmall {
        /// The disk.
        disk: String,
    },
}

/// The one disk that matches. Without an `install_disk`, the machine's only writable disk.
///
/// # Errors
///
/// [`DiskError`]; each text lists the disks in question.
pub fn resolve<'a>(wanted: Option<&InstallDisk>, disks: &'a [Disk]) -> Result<&'a Disk, DiskError> {
    let any = InstallDisk::default();
    let selector = wanted.unwrap_or(&any);
    let usable: Vec<&Disk> = disks.iter().filter(|disk| is_usable(disk)).collect();
    let matching: Vec<&Disk> = usable.iter().copied().filter(|disk| matches(selector, disk)).collect();
    let [disk] = matching[..] else {
        let wanted = describe(selector);
        return Err(match matching.len() {
            0 => DiskError::None { wanted, listed: list(&usable) },
            count => DiskError::Several { wanted, count, listed: list(&matching) },
        });
    };
    if disk.size_bytes < MINIMUM_BYTES {
        return Err(DiskError::TooSmall { disk: describe_disk(disk) });
    }
    match &disk.foreign_content {
        Some(content) if !selector.overwrite => {
            Err(DiskError::Foreign { disk: describe_disk(disk), content: content.clone() })
        }
        Some(_) | None => Ok(disk),
    }
}

/// Virtual disks (no transport), read-only ones and optical drives are no place for a system (talos 1.13).
fn is_usable(disk: &Disk) -> bool {
    !disk.read_only && !disk.transport.is_empty() && !disk.name.starts_with("sr")
}

fn matches(selector: &InstallDisk, disk: &Disk) -> bool {
    let exact = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
    let pattern =
        |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| glob(wanted, found));
    exact(&selector.path, &disk.device_path)
        && exact(&selector.serial, &disk.serial)
        && exact(&selector.wwid, &disk.wwid)
        && pattern(&selector.model, &disk.model)
        && pattern(&selector.bus_path, &disk.bus_path)
        && selector.transport.as_ref().is_none_or(|wanted| is_of_type(wanted, disk))
        && selector.size.as_ref().is_none_or(|size| {
            quantity::comparison(size)
                .is_ok_and(|(comparison, wanted)| comparison.holds(disk.size_bytes, wanted))
        })
}

/// Talos' disk types: `nvme` and `sd` are transports, `ssd` and `hdd` say whether it spins.
fn is_of_type(wanted: &str, disk: &Disk) -> bool {
    match wanted {
        "ssd" => !disk.rotational,
        "hdd" => disk.rotational,
        "sd" => disk.transport == "mmc" || disk.transport == "sd",
        other => disk.transport == other,
    }
}

/// `*` stands for any characters, `?` for one.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

fn describe(selector: &InstallDisk) -> String {
    let parts = [
        ("path", &selector.path),
        ("serial", &selector.serial),
        ("wwid", &selector.wwid),
        ("model", &selector.model),
        ("size", &selector.size),
        ("type", &selector.transport),
        ("bus_path", &selector.bus_path),
    ];
    let given: Vec<String> = parts
        .iter()
        .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} = {value:?}")))
        .collect();
    if given.is_empty() { "(no `install_disk` is given)".to_owned() } else { given.join(", ") }
}

fn describe_disk(disk: &Disk) -> String {
    let mut text = format!("{} ({} GB", disk.device_path, disk.size_bytes / 1_000_000_000);
    for (name, value) in [("model", &disk.model), ("serial", &disk.serial), ("wwid", &disk.wwid)] {
        if !value.is_empty() {
            text.push_str(&format!(", {name} {value}"));
        }
    }
    text.push(')');
    text
}

fn list(disks: &[&Disk]) -> String {
    if disks.is_empty() {
        return "no disk that can be written".to_owned();
    }
    disks.iter().map(|disk| describe_disk(disk)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn disk(name: &str, gigabytes: u64, serial: &str, transport: &str) -> Disk {
        Disk {
            name: name.into(),
            device_path: format!("/dev/{name}"),
            size_bytes: gigabytes * 1_000_000_000,
            serial: serial.into(),
            transport: transport.into(),
            model: format!("Model {serial}"),
            ..Disk::default()
        }
    }

    #[test]
    fn the_only_writable_disk_needs_no_selector() {
        let disks = [disk("sda", 500, "A", "sata"), disk("sr0", 1, "", "ata"), disk("loop0", 1, "", "")];
        assert_eq!(resolve(None, &disks).unwrap().name, "sda");
    }

    #[test]
    fn several_matches_are_listed_and_refused() {
        let disks = [disk("sda", 500, "A", "sata"), disk("sdb", 500, "B", "sata")];
        let text = resolve(None, &disks).unwrap_err().to_string();
        assert!(text.contains("/dev/sda") && text.contains("serial B"), "{text}");
        let by = |selector: InstallDisk| resolve(Some(&selector), &disks).map(|disk| disk.name.clone());
        assert_eq!(by(InstallDisk { serial: Some("B".into()), ..InstallDisk::default() }).unwrap(), "sdb");
        assert_eq!(by(InstallDisk { model: Some("*A".into()), ..InstallDisk::default() }).unwrap(), "sda");
        assert!(matches!(
            by(InstallDisk { size: Some("> 1TB".into()), ..InstallDisk::default() }),
            Err(DiskError::None { .. })
        ));
    }

    #[test]
    fn a_disk_with_a_foreign_system_is_kept_unless_overwriting_is_meant() {
        let mut used = disk("sda", 500, "A", "sata");
        used.foreign_content = Some("an ext4 file system".into());
        assert!(matches!(resolve(None, std::slice::from_ref(&used)), Err(DiskError::Foreign { .. })));
        let selector = InstallDisk { overwrite: true, ..InstallDisk::default() };
        assert_eq!(resolve(Some(&selector), std::slice::from_ref(&used)).unwrap().name, "sda");
        assert!(matches!(resolve(None, &[disk("sda", 4, "A", "sata")]), Err(DiskError::TooSmall { .. })));
    }

    #[test]
    fn globs_match_as_talos_matches_them() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("a?c", "abc", true),
            ("", "a", false),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
    }
}
