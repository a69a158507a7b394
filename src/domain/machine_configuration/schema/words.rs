//! The words that keys of a fixed choice take.

/// The words of one choice.
#[derive(Debug)]
pub(in super::super) struct Words {
    pub(in super::super) known: &'static [&'static str],
    /// What Go holds when nothing is set, and writes where something must stand.
    pub(in super::super) zero: &'static str,
    /// A word's place in the list, counted from 0, is taken for it, as it was before Talos knew the words.
    pub(in super::super) numbered: bool,
}

/// A choice whose zero value is its first word.
const fn words(known: &'static [&'static str]) -> Words {
    Words { known, zero: known[0], numbered: false }
}

pub(super) const AUTO_HOSTNAME_KIND: Words = words(&["off", "talos-addr", "stable"]);
pub(super) const BOND_MODE: Words = words(&[
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
]);
pub(super) const TRANSMIT_HASH_POLICY: Words =
    words(&["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"]);
pub(super) const LACP_RATE: Words = words(&["slow", "fast"]);
pub(super) const ARP_VALIDATE: Words =
    words(&["none", "active", "backup", "all", "filter", "filter-active", "filter-backup"]);
pub(super) const ARP_ALL_TARGETS: Words = words(&["any", "all"]);
pub(super) const FAIL_OVER_MAC: Words = Words { numbered: true, ..words(&["none", "active", "follow"]) };
pub(super) const AD_SELECT: Words = words(&["stable", "bandwidth", "count"]);
pub(super) const AD_LACP_ACTIVE: Words = words(&["off", "on"]);
pub(super) const PRIMARY_RESELECT: Words = words(&["always", "better", "failure"]);
pub(super) const VLAN_PROTOCOL: Words = words(&["802.1q", "802.1ad"]);
/// Talos writes a protocol that is not set as a number and reads that no more.
pub(super) const PROTOCOL: Words =
    Words { known: &["icmp", "tcp", "udp", "icmpv6"], zero: "Protocol(0)", numbered: false };
pub(super) const DEFAULT_ACTION: Words = words(&["accept", "block"]);
pub(super) const ROUTING_RULE_ACTION: Words =
    Words { known: &["unicast", "blackhole", "unreachable", "prohibit"], zero: "", numbered: false };
pub(super) const CLIENT_IDENTIFIER: Words = words(&["none", "mac", "duid"]);
pub(super) const WAKE_ON_LAN_MODE: Words =
    words(&["phy", "unicast", "multicast", "broadcast", "magic", "magicsecure", "filter"]);
pub(super) const VOLUME_TYPE: Words =
    words(&["partition", "disk", "tmpfs", "directory", "symlink", "overlay", "external"]);
pub(super) const FILESYSTEM_TYPE: Words =
    words(&["none", "xfs", "vfat", "ext4", "iso9660", "swapi", "virtiofs"]);
pub(super) const ENCRYPTION_PROVIDER_TYPE: Words = words(&["none", "luks2"]);
