//! From a Service's address to its pods, by the cluster's own objects; pure.

use std::net::{IpAddr, SocketAddr};

use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;

/// The name of the Service's port that an address means; empty for a port without a name.
pub(super) fn service_port(service: &Service, target: SocketAddr) -> Option<String> {
    let spec = service.spec.as_ref()?;
    let address = target.ip().to_string();
    let has_address = spec.cluster_ip.as_ref() == Some(&address)
        || spec.cluster_ips.iter().flatten().any(|cluster_ip| *cluster_ip == address);
    if !has_address {
        return None;
    }
    let port = spec.ports.iter().flatten().find(|port| port.port == i32::from(target.port()))?;
    Some(port.name.clone().unwrap_or_default())
}

/// The ready endpoints of a slice, for a port of this name.
pub(super) fn ready_endpoints(slice: &EndpointSlice, port_name: &str) -> Vec<SocketAddr> {
    let port =
        slice.ports.iter().flatten().find(|port| port.name.as_deref().unwrap_or_default() == port_name);
    let Some(port) = port.and_then(|port| port.port).and_then(|port| u16::try_from(port).ok()) else {
        return Vec::new();
    };
    let is_ready =
        |conditions: &k8s_openapi::api::discovery::v1::EndpointConditions| conditions.ready != Some(false);
    slice
        .endpoints
        .iter()
        .flatten()
        .filter(|endpoint| endpoint.conditions.as_ref().is_none_or(is_ready))
        .flat_map(|endpoint| &endpoint.addresses)
        .filter_map(|address| address.parse::<IpAddr>().ok())
        .map(|address| SocketAddr::new(address, port))
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_service_leads_to_its_ready_pods_only() {
        let service: Service = serde_json::from_value(json!({ "spec": {
            "clusterIP": "10.96.7.7", "ports": [{ "name": "https", "port": 443, "targetPort": "https" }],
        }}))
        .unwrap();
        assert_eq!(service_port(&service, "10.96.7.7:443".parse().unwrap()).as_deref(), Some("https"));
        assert_eq!(service_port(&service, "10.96.7.7:80".parse().unwrap()), None);
        assert_eq!(service_port(&service, "10.96.7.8:443".parse().unwrap()), None);
        let slice: EndpointSlice = serde_json::from_value(json!({
            "addressType": "IPv4",
            "ports": [{ "name": "https", "port": 10250 }],
            "endpoints": [
                { "addresses": ["10.244.1.2"], "conditions": { "ready": false } },
                { "addresses": ["10.244.1.3"], "conditions": { "ready": true } },
            ],
        }))
        .unwrap();
        assert_eq!(ready_endpoints(&slice, "https"), ["10.244.1.3:10250".parse().unwrap()]);
        assert!(ready_endpoints(&slice, "other").is_empty());
    }
}
