//! A network for each run: a /24 of 127/8, all of whose addresses are local on Linux.

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};

use libtest_mimic::Failed;

/// Networks are allotted from 127.64.0.0/10: below it stand the quick start and what people start by hand.
const FIRST: u32 = 0x7f40_0000;
const NETWORKS: u32 = 1 << 14;

/// A listener on this port of a network's last address is the claim on the network. No machine listens there.
const CLAIM_PORT: u16 = 49_009;

/// A /24 that no other run has, also not one in another process. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Subnet {
    network: u32,
    _claim: TcpListener,
}

impl Subnet {
    /// Takes a free network.
    pub(crate) fn allot() -> Result<Self, Failed> {
        // Runs of several processes start looking at different places.
        let start = std::process::id().wrapping_mul(61);
        (0..NETWORKS)
            .map(|step| FIRST + ((start.wrapping_add(step) % NETWORKS) << 8))
            .find_map(Self::claim)
            .ok_or_else(|| "every network of 127.64.0.0/10 is taken".into())
    }

    /// The address with that last number.
    pub(crate) fn address(&self, host: u8) -> Ipv4Addr {
        Ipv4Addr::from(self.network + u32::from(host))
    }

    fn claim(network: u32) -> Option<Self> {
        let address = Ipv4Addr::from(network + 255);
        let claim = TcpListener::bind(SocketAddrV4::new(address, CLAIM_PORT)).ok()?;
        Some(Self { network, _claim: claim })
    }
}
