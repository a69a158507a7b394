//! The words that keys of a fixed choice take.

/// The words of one choice.
type Words = &'static [&'static str];

pub(super) const AUTO_HOSTNAME_KIND: Words = &["off", "talos-addr", "stable"];
pub(super) const BOND_MODE: Words =
    &["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];
pub(super) const TRANSMIT_HASH_POLICY: Words = &["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"];
pub(super) const LACP_RATE: Words = &["slow", "fast"];
pub(super) const ARP_VALIDATE: Words =
    &["none", "active", "backup", "all", "filter", "filter-active", "filter-backup"];
pub(super) const ARP_ALL_TARGETS: Words = &["any", "all"];
pub(super) const FAIL_OVER_MAC: Words = &["none", "active", "follow"];
pub(super) const AD_SELECT: Words = &["stable", "bandwidth", "count"];
pub(super) const AD_LACP_ACTIVE: Words = &["off", "on"];
pub(super) const PRIMARY_RESELECT: Words = &["always", "better", "failure"];
pub(super) const VLAN_PROTOCOL: Words = &["802.1q", "802.1ad"];
pub(super) const PROTOCOL: Words = &["icmp", "tcp", "udp", "icmpv6"];
pub(super) const DEFAULT_ACTION: Words = &["accept", "block"];
pub(super) const ROUTING_RULE_ACTION: Words = &["unicast", "blackhole", "unreachable", "prohibit"];
pub(super) const CLIENT_IDENTIFIER: Words = &["none", "mac", "duid"];
pub(super) const WAKE_ON_LAN_MODE: Words =
    &["phy", "unicast", "multicast", "broadcast", "magic", "magicsecure", "filter"];
pub(super) const VOLUME_TYPE: Words =
    &["partition", "disk", "tmpfs", "directory", "symlink", "overlay", "external"];
pub(super) const FILESYSTEM_TYPE: Words = &["none", "xfs", "vfat", "ext4", "iso9660", "swap", "virtiofs"];
pub(super) const ENCRYPTION_PROVIDER_TYPE: Words = &["none", "luks2"];
