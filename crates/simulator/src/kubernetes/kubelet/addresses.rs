//! Addresses of nodes and pods.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use crate::configuration::MachineConfiguration;

/// The node's addresses that the kubelet reports: those within the subnets that the configuration names, else the
/// first that isn't shared.
pub(super) fn node_addresses(configuration: &MachineConfiguration, addresses: &[IpAddr]) -> Vec<IpAddr> {
    let machine = &configuration.machine;
    let subnets = &machine.kubelet.node_ip_valid_subnets;
    let shared =
        |address: &IpAddr| machine.virtual_addresses.iter().any(|shared| *shared == address.to_string());
    let mut candidates = addresses.iter().copied().filter(|address| !shared(address));
    if subnets.is_empty() {
        return candidates.next().into_iter().collect();
    }
    candidates.filter(|address| is_within(*address, subnets)).collect()
}

/// Whether an address lies in the subnets; one with a leading `!` takes its addresses out.
fn is_within(address: IpAddr, subnets: &[String]) -> bool {
    let contains = |subnet: &str| subnet.parse::<IpNet>().is_ok_and(|subnet| subnet.contains(&address));
    let excluded = subnets.iter().filter_map(|subnet| subnet.strip_prefix('!')).any(contains);
    let included = subnets.iter().map(String::as_str).filter(|subnet| !subnet.starts_with('!')).any(contains);
    included && !excluded
}

/// The address of a pod in the host's network. A loopback address could never stand in an EndpointSlice, so the pod
/// network lends each one an address in 198.18.0.0/15, which is set aside for benchmarks (RFC 2544).
pub(super) fn shadow(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) if address.is_loopback() => {
            let [_, second, third, fourth] = address.octets();
            IpAddr::V4(Ipv4Addr::new(198, 18 + (second & 1), third, fourth))
        }
        IpAddr::V4(_) | IpAddr::V6(_) => address,
    }
}

/// The node among these whose host network an address stands for.
pub(in crate::kubernetes) fn node_address_of_shadow(address: IpAddr, nodes: &[IpAddr]) -> Option<IpAddr> {
    nodes.iter().copied().find(|node| shadow(*node) == address)
}

/// The addresses of the node's pods, out of its own subnet.
pub(super) struct PodAddresses {
    subnet: IpNet,
    taken: BTreeMap<IpAddr, String>,
}

impl PodAddresses {
    pub(super) fn new(subnet: IpNet) -> Self {
        Self { subnet, taken: BTreeMap::new() }
    }

    /// The pod's address: the one it has, or the lowest that is free. None when the subnet is full.
    pub(super) fn assign(&mut self, pod: &str) -> Option<IpAddr> {
        if let Some((address, _)) = self.taken.iter().find(|(_, owner)| *owner == pod) {
            return Some(*address);
        }
        // The first host of the subnet is the node's own end.
        let free = self.subnet.hosts().skip(1).find(|address| !self.taken.contains_key(address))?;
        self.taken.insert(free, pod.to_owned());
        Some(free)
    }

    /// Keeps an address that a pod got in an earlier life of the kubelet.
    pub(super) fn adopt(&mut self, pod: &str, address: IpAddr) {
        self.taken.insert(address, pod.to_owned());
    }

    pub(super) fn release(&mut self, pod: &str) {
        self.taken.retain(|_, owner| owner != pod);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_pod_keeps_its_address_and_frees_it_when_it_goes() {
        let mut addresses = PodAddresses::new("10.244.1.0/29".parse().unwrap());
        let first = addresses.assign("a").unwrap();
        assert_eq!(first.to_string(), "10.244.1.2");
        assert_eq!(addresses.assign("a"), Some(first));
        assert_eq!(addresses.assign("b").unwrap().to_string(), "10.244.1.3");
        addresses.release("a");
        assert_eq!(addresses.assign("c"), Some(first));
        addresses.adopt("d", "10.244.1.4".parse().unwrap());
        assert_eq!(addresses.assign("e").unwrap().to_string(), "10.244.1.5");
    }

    #[test]
    fn a_shadow_is_no_loopback_address_and_leads_back() {
        let node: IpAddr = "127.0.31.21".parse().unwrap();
        assert_eq!(shadow(node).to_string(), "198.18.31.21");
        assert_eq!(node_address_of_shadow(shadow(node), &["127.0.31.11".parse().unwrap(), node]), Some(node));
        assert_eq!(node_address_of_shadow(node, &[node]), None);
    }

    #[test]
    fn excluded_subnets_win() {
        let subnets = ["127.0.31.0/24".to_owned(), "!127.0.31.21/32".to_owned()];
        assert!(is_within("127.0.31.20".parse().unwrap(), &subnets));
        assert!(!is_within("127.0.31.21".parse().unwrap(), &subnets));
        assert!(!is_within("127.0.32.1".parse().unwrap(), &subnets));
    }
}
