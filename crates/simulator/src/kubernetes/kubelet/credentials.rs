//! TLS bootstrap: from the cluster's bootstrap token to the node's own certificate
//! (<https://kubernetes.io/docs/reference/access-authn-authz/kubelet-tls-bootstrapping/>).

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use kube::Client;
use kube::api::{Api, PostParams, WatchEvent, WatchParams};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use serde_json::json;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::RETRY;
use crate::configuration::Secret;
use crate::kubernetes::certificates::pem_body;
use crate::kubernetes::client::{Credentials, local};
use crate::kubernetes::context::{Context, write_secret};

/// How long the controller manager may take to approve and sign before the request is made anew.
const SIGNED: Duration = Duration::from_secs(60);

struct ClientCertificate {
    certificate: String,
    key: Secret,
}

/// The node's own client, as soon as the cluster grants it; none when the node stops before.
pub(super) async fn obtain(context: &Context) -> Option<Client> {
    loop {
        let tried = async {
            let kept = match kept(context) {
                Some(kept) => kept,
                None => bootstrap(context).await?,
            };
            let credentials = Credentials::Certificate { certificate: &kept.certificate, key: &kept.key };
            local(context.configuration(), context.address, &credentials)
        };
        match tried.await {
            Ok(client) => return Some(client),
            Err(reason) => tracing::debug!(node = context.hostname(), %reason, "bootstrap the kubelet"),
        }
        if !context.pause(RETRY).await {
            return None;
        }
    }
}

/// The certificate of an earlier boot, while it is valid and the node's name is the same: Talos drops one of another
/// name.
fn kept(context: &Context) -> Option<ClientCertificate> {
    let read = |name| std::fs::read_to_string(folder(context).join(name)).ok();
    let (certificate, key) = (read("client.crt")?, Secret::new(read("client.key")?));
    let der = pem_body(&certificate)?;
    let (_, parsed) = X509Certificate::from_der(&der).ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    let ends = u64::try_from(parsed.validity().not_after.timestamp()).ok()?;
    let name = format!("system:node:{}", context.hostname());
    let same_name = parsed.subject().iter_common_name().any(|found| found.as_str() == Ok(name.as_str()));
    (now < ends && same_name).then_some(ClientCertificate { certificate, key })
}

async fn bootstrap(context: &Context) -> Result<ClientCertificate, String> {
    let token = context.configuration().cluster.token.as_ref();
    let token = token.ok_or_else(|| "the configuration has no bootstrap token".to_owned())?;
    let token = format!("{}.{}", token.id, token.secret.expose());
    let client = local(context.configuration(), context.address, &Credentials::Token(&token))?;
    let key = KeyPair::generate().map_err(|error| error.to_string())?;
    let usages = ["digital signature", "client auth"];
    let signer = "kube-apiserver-client-kubelet";
    let request = signing_request(context.hostname(), &key, Vec::new(), signer, usages)?;
    let requests: Api<CertificateSigningRequest> = Api::all(client);
    let signed = async {
        let created =
            requests.create(&PostParams::default(), &request).await.map_err(|error| error.to_string())?;
        signed(&requests, created).await
    };
    let certificate = tokio::time::timeout(SIGNED, signed)
        .await
        .map_err(|_| "the request isn't signed yet".to_owned())??;
    let key = Secret::new(key.serialize_pem());
    for (name, content) in [("client.crt", certificate.as_str()), ("client.key", key.expose())] {
        let path = folder(context).join(name);
        write_secret(&path, content.as_bytes())
            .map_err(|error| format!("write {}: {error}", path.display()))?;
    }
    Ok(ClientCertificate { certificate, key })
}

/// A request of a node for a certificate in its name: with these further names, from this signer, for these uses.
pub(super) fn signing_request(
    node: &str,
    key: &KeyPair,
    names: Vec<SanType>,
    signer: &str,
    usages: [&str; 2],
) -> Result<CertificateSigningRequest, String> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "system:nodes");
    params.distinguished_name.push(DnType::CommonName, format!("system:node:{node}"));
    params.subject_alt_names = names;
    let request = params.serialize_request(key).map_err(|error| error.to_string())?;
    let request = request.pem().map_err(|error| error.to_string())?;
    serde_json::from_value(json!({
        "metadata": { "generateName": "csr-" },
        "spec": {
            "signerName": format!("kubernetes.io/{signer}"),
            "usages": usages,
            "request": STANDARD.encode(request),
        },
    }))
    .map_err(|error| error.to_string())
}

/// Waits for the certificate of a request; a denial is an error.
pub(super) async fn signed(
    requests: &Api<CertificateSigningRequest>,
    created: CertificateSigningRequest,
) -> Result<String, String> {
    let name = created.metadata.name.unwrap_or_default();
    let version = created.metadata.resource_version.unwrap_or_default();
    let selection = WatchParams::default().fields(&format!("metadata.name={name}"));
    let events = requests.watch(&selection, &version).await.map_err(|error| error.to_string())?;
    futures::pin_mut!(events);
    while let Some(event) = events.next().await {
        let changed = match event.map_err(|error| error.to_string())? {
            WatchEvent::Added(changed) | WatchEvent::Modified(changed) => changed,
            WatchEvent::Deleted(_) => return Err(format!("request {name} was deleted")),
            WatchEvent::Error(status) => return Err(status.message.clone()),
            WatchEvent::Bookmark(_) => continue,
        };
        let status = changed.status.unwrap_or_default();
        if let Some(denied) = status.conditions.iter().flatten().find(|condition| condition.type_ == "Denied")
        {
            return Err(format!("request {name} was denied: {}", denied.message.clone().unwrap_or_default()));
        }
        if let Some(certificate) = status.certificate {
            return String::from_utf8(certificate.0).map_err(|error| error.to_string());
        }
    }
    Err(format!("the watch of request {name} ended"))
}

pub(super) fn folder(context: &Context) -> PathBuf {
    context.specification.data.join("kubelet/pki")
}
