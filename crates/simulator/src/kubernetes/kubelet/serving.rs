//! The certificate that the kubelet serves its API with, where it was told to ask the cluster for it
//! (<https://kubernetes.io/docs/reference/access-authn-authz/kubelet-tls-bootstrapping/#certificate-rotation>).

use std::net::IpAddr;
use std::time::Duration;

use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use kube::api::{Api, PostParams};
use rcgen::{KeyPair, SanType};
use serde_json::Value;

use super::credentials::{folder, signed, signing_request};
use super::node_object::addresses;
use super::{Kubelet, RETRY};
use crate::configuration::MachineConfiguration;
use crate::kubernetes::context::write_secret;

/// How long a kubelet waits for someone to approve before it asks anew.
const APPROVED: Duration = Duration::from_secs(15 * 60);

/// Whether the kubelet asks the cluster; else it signs its certificate itself.
fn is_asked_for(configuration: &MachineConfiguration) -> bool {
    let kubelet = &configuration.machine.kubelet;
    let flag = kubelet.extra_arguments.get("rotate-server-certificates").and_then(|values| values.last());
    let in_file = kubelet.extra_configuration.get("serverTLSBootstrap").and_then(Value::as_bool);
    flag.map_or_else(|| in_file == Some(true), |flag| flag == "true")
}

/// Asks until there is a certificate. One of an earlier boot is kept.
pub(super) async fn obtain(kubelet: &Kubelet) {
    let kept = folder(&kubelet.context).join("serving.crt");
    if !is_asked_for(kubelet.context.configuration()) || kept.exists() {
        return;
    }
    loop {
        match try_obtain(kubelet).await {
            Ok(()) => return,
            Err(reason) => {
                tracing::info!(node = kubelet.node_name(), %reason, "ask for a serving certificate");
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn try_obtain(kubelet: &Kubelet) -> Result<(), String> {
    let key = KeyPair::generate().map_err(|error| error.to_string())?;
    let requests: Api<CertificateSigningRequest> = Api::all(kubelet.client.clone());
    let usages = ["digital signature", "server auth"];
    let object = signing_request(kubelet.node_name(), &key, names(kubelet)?, "kubelet-serving", usages)?;
    let created = kubelet.ask(requests.create(&PostParams::default(), &object)).await;
    let created = created.map_err(|error| error.to_string())?;
    let certificate = tokio::time::timeout(APPROVED, signed(&requests, created))
        .await
        .map_err(|_| "nobody approved the request".to_owned())??;
    for (name, content) in [("serving.key", key.serialize_pem()), ("serving.crt", certificate)] {
        let path = folder(&kubelet.context).join(name);
        write_secret(&path, content.as_bytes())
            .map_err(|error| format!("write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// The addresses and the name that the node reports.
fn names(kubelet: &Kubelet) -> Result<Vec<SanType>, String> {
    let name = |address: &Value| {
        let text = address["address"].as_str().unwrap_or_default();
        Ok(match text.parse::<IpAddr>() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(text.try_into().map_err(|error| format!("{text}: {error}"))?),
        })
    };
    addresses(&kubelet.context.specification).iter().map(name).collect()
}
