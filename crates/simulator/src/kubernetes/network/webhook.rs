//! cert-manager's webhook, played with the pod's own token: it makes its CA, keeps it in the Secret that the chart
//! names, and answers admission reviews over TLS with a certificate of it.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::play::{Stage, flag};
use crate::kubernetes::clusters::MeetingPoint;

/// The largest review that is read.
const LARGEST_REVIEW: usize = 4 << 20;
/// The port where the chart says none.
const PORT: u16 = 10250;

pub(super) async fn perform(stage: &Stage<'_>, ready: &watch::Sender<bool>) -> Result<(), String> {
    let address: IpAddr = stage.address.ok_or_else(|| "the pod has no address".to_owned())?;
    let arguments = stage.arguments();
    let one = |name: &str| flag(&arguments, name).first().map(|value| (*value).to_owned());
    let namespace = one("dynamic-serving-ca-secret-namespace").ok_or("no namespace is given for the CA")?;
    let name = one("dynamic-serving-ca-secret-name").ok_or("no name is given for the CA")?;
    let port = one("secure-port").and_then(|port| port.parse().ok()).unwrap_or(PORT);
    let client = stage.pod_client().await?;
    let authority = keep_authority(&client, &namespace, &name).await?;
    let names = flag(&arguments, "dynamic-serving-dns-names").into_iter().map(str::to_owned).collect();
    let acceptor = authority.acceptor(names)?;
    let network = stage.context.clusters.pod_network(&MeetingPoint::of(stage.context.configuration()));
    let mut listener = network.listen(address, port);
    ready.send_replace(true);
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            stream = listener.accept() => {
                let stream = stream.ok_or_else(|| "another pod took the address".to_owned())?;
                let acceptor = acceptor.clone();
                connections.spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let connection = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service_fn(answer));
                    // The API server ends connections as it likes.
                    drop(connection.await);
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

struct ServingAuthority {
    certificate: String,
    key: String,
}

/// The CA in the Secret, made and stored where there is none: all replicas serve with one.
async fn keep_authority(client: &Client, namespace: &str, name: &str) -> Result<ServingAuthority, String> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    if let Some(secret) = secrets.get_opt(name).await.map_err(|error| error.to_string())? {
        let text = |key: &str| {
            let data = secret.data.as_ref()?.get(key)?;
            String::from_utf8(data.0.clone()).ok()
        };
        if let (Some(certificate), Some(key)) = (text("tls.crt"), text("tls.key")) {
            return Ok(ServingAuthority { certificate, key });
        }
        return Err(format!("Secret {} has no CA in it", secret.name_any()));
    }
    let key = KeyPair::generate().map_err(|error| error.to_string())?;
    let certificate = authority_params().self_signed(&key).map_err(|error| error.to_string())?.pem();
    let authority = ServingAuthority { certificate, key: key.serialize_pem() };
    let secret = json!({
        "metadata": { "name": name, "annotations": { "cert-manager.io/allow-direct-injection": "true" } },
        "type": "Opaque",
        "stringData": {
            "ca.crt": authority.certificate, "tls.crt": authority.certificate, "tls.key": authority.key,
        },
    });
    let secret: Secret = serde_json::from_value(secret).map_err(|error| error.to_string())?;
    secrets.create(&PostParams::default(), &secret).await.map_err(|error| error.to_string())?;
    Ok(authority)
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "cert-manager-webhook-ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    params
}

impl ServingAuthority {
    fn acceptor(&self, names: Vec<String>) -> Result<TlsAcceptor, String> {
        let key = KeyPair::from_pem(&self.key).map_err(|error| error.to_string())?;
        let issuer = Issuer::new(authority_params(), key);
        let serving_key = KeyPair::generate().map_err(|error| error.to_string())?;
        let mut params = CertificateParams::new(names).map_err(|error| error.to_string())?;
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&serving_key, &issuer).map_err(|error| error.to_string())?;
        let ca =
            CertificateDer::from_pem_slice(self.certificate.as_bytes()).map_err(|error| error.to_string())?;
        let key = PrivateKeyDer::from_pem_slice(serving_key.serialize_pem().as_bytes());
        let configuration =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|error| error.to_string())?
                .with_no_client_auth()
                .with_single_cert(
                    vec![certificate.der().clone(), ca],
                    key.map_err(|error| error.to_string())?,
                )
                .map_err(|error| error.to_string())?;
        Ok(TlsAcceptor::from(Arc::new(configuration)))
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = Limited::new(request.into_body(), LARGEST_REVIEW).collect().await;
    let review = body.ok().and_then(|body| serde_json::from_slice::<Value>(&body.to_bytes()).ok());
    let (status, body) = match review {
        Some(review) if path == "/validate" || path == "/mutate" => (200, review_answer(&review, &path)),
        Some(_) => (404, json!({ "error": "no such path" })),
        None => (400, json!({ "error": "expected an AdmissionReview" })),
    };
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Allows what cert-manager would, as far as the simulator knows: an issuer is of exactly one kind.
fn review_answer(review: &Value, path: &str) -> Value {
    let request = &review["request"];
    let kind = request["kind"]["kind"].as_str().unwrap_or_default();
    let issuer = kind == "Issuer" || kind == "ClusterIssuer";
    let kinds = ["acme", "ca", "vault", "selfSigned", "venafi"];
    let chosen = kinds.iter().filter(|kind| request["object"]["spec"].get(**kind).is_some()).count();
    let deleting = request["operation"] == "DELETE";
    let mut response = json!({ "uid": request["uid"], "allowed": true });
    if path == "/validate" && issuer && !deleting && chosen != 1 {
        let message = format!("spec: expected exactly one of {}, got {chosen}", kinds.join(", "));
        response["allowed"] = json!(false);
        response["status"] = json!({ "code": 422, "reason": "Invalid", "message": message });
    }
    json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_of_no_kind_is_denied() {
        let review = |spec: Value| json!({ "request": { "uid": "u", "kind": { "kind": "Issuer" }, "operation": "CREATE", "object": { "spec": spec } } });
        let answer = |spec| review_answer(&review(spec), "/validate")["response"]["allowed"].clone();
        assert_eq!(answer(json!({ "selfSigned": {} })), json!(true));
        assert_eq!(answer(json!({})), json!(false));
        assert_eq!(answer(json!({ "selfSigned": {}, "ca": {} })), json!(false));
    }
}
