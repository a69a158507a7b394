//! The documents about volumes.

use std::collections::BTreeSet;

use yaml::Value;

use super::{Verdict, flag, list, number, text};
use crate::domain::machine_configuration::scalars::bytes;

/// Judges the documents of one kind; `place` names the document.
pub(super) fn judge(kind: &str, document: &Value, place: &str, verdict: &mut Verdict) {
    let name = text(document, &["name"]);
    match kind {
        "VolumeConfig" => {
            let is_known = matches!(name, "STATE" | "EPHEMERAL" | "IMAGECACHE");
            verdict.error_if(!is_known, place, "name: expected STATE, EPHEMERAL or IMAGECACHE");
            if name == "STATE" {
                verdict.error_if(is_set(document, "provisioning"), place, "STATE takes no provisioning");
                let locked = list(document, &["encryption", "keys"])
                    .iter()
                    .any(|key| flag(key, &["lockToState"]) == Some(true));
                verdict.error_if(locked, place, "STATE takes no key locked to itself");
            }
            provisioning(document, false, true, place, verdict);
            encryption(document, place, verdict);
        }
        "RawVolumeConfig" | "SwapVolumeConfig" => {
            names(name, place, verdict);
            provisioning(document, true, true, place, verdict);
            encryption(document, place, verdict);
        }
        "UserVolumeConfig" => {
            names(name, place, verdict);
            user(document, place, verdict);
        }
        "ExistingVolumeConfig" => {
            letters(name, place, verdict);
            let selector = text(document, &["discovery", "volumeSelector", "match"]);
            verdict.error_if(selector.is_empty(), place, "discovery.volumeSelector.match must be set");
        }
        "ExternalVolumeConfig" => {
            names(name, place, verdict);
            let is_fine = text(document, &["filesystemType"]) == "virtiofs";
            verdict.error_if(!is_fine, place, "filesystemType: expected virtiofs");
            let tag = text(document, &["mount", "virtiofs", "tag"]);
            verdict.error_if(tag.is_empty(), place, "mount.virtiofs.tag must be set");
        }
        "ZswapConfig" => {
            let share = number(document, &["maxPoolPercent"]);
            verdict.error_if(!(0..=100).contains(&share), place, "maxPoolPercent: expected 0 to 100");
        }
        _ => {}
    }
}

fn user(document: &Value, place: &str, verdict: &mut Verdict) {
    match text(document, &["volumeType"]) {
        "directory" => {
            let has_other =
                ["provisioning", "encryption", "filesystem", "mount"].iter().any(|key| is_set(document, key));
            verdict.error_if(has_other, place, "a directory takes nothing but its name");
            return;
        }
        "disk" => provisioning(document, true, false, place, verdict),
        "" | "partition" => provisioning(document, true, true, place, verdict),
        _ => verdict.error(place, "volumeType: expected partition, disk or directory"),
    }
    encryption(document, place, verdict);
    let filesystem = text(document, &["filesystem", "type"]);
    verdict.error_if(
        !matches!(filesystem, "" | "none" | "xfs" | "ext4"),
        place,
        "filesystem.type: expected xfs or ext4",
    );
    let has_quota = flag(document, &["filesystem", "projectQuotaSupport"]) == Some(true);
    verdict.error_if(has_quota && filesystem == "ext4", place, "projectQuotaSupport needs xfs");
}

fn provisioning(document: &Value, required: bool, sized: bool, place: &str, verdict: &mut Verdict) {
    let at = |path: &[&'static str]| text(document, path).to_owned();
    let selector = at(&["provisioning", "diskSelector", "match"]);
    verdict.error_if(required && selector.is_empty(), place, "provisioning.diskSelector.match must be set");
    let (smallest, largest) = (at(&["provisioning", "minSize"]), at(&["provisioning", "maxSize"]));
    if !sized {
        let has_size = !smallest.is_empty()
            || !largest.is_empty()
            || flag(document, &["provisioning", "grow"]).is_some();
        verdict.error_if(has_size, place, "a whole disk takes no sizes");
        return;
    }
    let nothing = smallest.is_empty() && largest.is_empty();
    verdict.error_if(required && nothing, place, "minSize or maxSize must be set");
    if let (Some(smallest), Some(largest)) = (bytes(&smallest), bytes(&largest)) {
        verdict.error_if(smallest > largest, place, "minSize is greater than maxSize");
    }
}

fn encryption(document: &Value, place: &str, verdict: &mut Verdict) {
    if !is_set(document, "encryption") {
        return;
    }
    verdict.error_if(
        text(document, &["encryption", "provider"]) != "luks2",
        place,
        "encryption.provider: expected luks2",
    );
    let keys = list(document, &["encryption", "keys"]);
    verdict.error_if(keys.is_empty(), place, "encryption.keys: at least one is needed");
    let mut slots = BTreeSet::new();
    for key in keys {
        verdict.error_if(!slots.insert(number(key, &["slot"])), place, "a key's slot is used twice");
        let has_method = ["nodeID", "static", "kms", "tpm"].iter().any(|method| key.field(method).is_some());
        verdict.error_if(!has_method, place, "a key needs static, nodeID, kms or tpm");
        let is_register =
            |register: &Value| register.as_i64().is_some_and(|register| (0..=23).contains(&register));
        let registers = list(key, &["tpm", "options", "pcrs"]);
        verdict.error_if(!registers.iter().all(is_register), place, "pcrs: expected 0 to 23");
    }
}

fn names(name: &str, place: &str, verdict: &mut Verdict) {
    letters(name, place, verdict);
    verdict.error_if(name.len() > 34, place, "name: at most 34 characters");
}

fn letters(name: &str, place: &str, verdict: &mut Verdict) {
    let is_fine = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '-');
    verdict.error_if(!is_fine, place, "name: expected letters, digits and hyphens");
}

/// Whether a section holds anything.
fn is_set(document: &Value, key: &str) -> bool {
    document.field(key).is_some_and(|section| section.as_mapping() != Some(&[]))
}
