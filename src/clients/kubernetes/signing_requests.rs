//! Certificate signing requests: the kubelets' for the certificates that they serve with.

use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};
use kube::api::PostParams;
use serde_json::json;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::FromDer;
use x509_parser::x509::AttributeTypeAndValue;

use super::client::Client;
use super::error::{Result, attempt};
use super::nodes::typed;
use super::object::Reference;
use super::resources::{FIELD_MANAGER, Filter, bytes, read};
use super::watch::Watched;
use crate::domain::cluster::serving_certificates::{
    RequestId, RequestState, SIGNER, ServingRequest, WantedCertificate,
};

const API_VERSION: &str = "certificates.k8s.io/v1";
const KIND: &str = "CertificateSigningRequest";

fn to_kubelet_serving() -> Filter {
    Filter { fields: Some(format!("spec.signerName={SIGNER}")), ..Filter::default() }
}

impl Watched {
    /// The requests for kubelets' serving certificates.
    #[must_use]
    pub fn serving_requests() -> Self {
        Self::new(API_VERSION, KIND, to_kubelet_serving())
    }
}

impl Client {
    /// The requests for kubelets' serving certificates. Kubernetes removes those that were judged after an hour, and
    /// the others after a day.
    ///
    /// # Errors
    /// When the server does not answer or does not let us.
    pub async fn serving_requests(&self) -> Result<Vec<ServingRequest>> {
        let objects = self.list(API_VERSION, KIND, &to_kubelet_serving()).await?;
        objects.into_iter().map(|object| typed(object).map(serving_request)).collect()
    }

    /// Approves the request that was judged. One that is gone, or judged already, is success, and so is another of its
    /// name, which is to be judged first.
    ///
    /// # Errors
    /// [`Cause::Stale`](super::Cause::Stale) when it was changed meanwhile, …
    pub async fn approve_serving_request(&self, id: &RequestId) -> Result<()> {
        let reference = Reference::cluster_wide(API_VERSION, KIND, &id.name);
        let Some(found) = self.get(&reference).await? else { return Ok(()) };
        let request = serving_request(typed(found.clone())?);
        if request.id != *id || request.state != RequestState::Pending {
            return Ok(());
        }
        let mut json = found.into_json();
        json["status"]["conditions"] = json!([{
            "type": "Approved", "status": "True", "reason": "KnownNode",
            "message": "The node asked under its own name and addresses.",
        }]);
        let doing = attempt("approve", &reference);
        let body = bytes(&doing, &read(&doing, json)?)?;
        let parameters = PostParams { dry_run: false, field_manager: Some(FIELD_MANAGER.to_owned()) };
        let request = self.request_for(&doing, &reference).await?;
        let asked = request.replace_subresource("approval", &id.name, &parameters, body);
        match self.json(&doing, asked).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn serving_request(request: CertificateSigningRequest) -> ServingRequest {
    let conditions = request.status.unwrap_or_default().conditions.unwrap_or_default();
    ServingRequest {
        id: RequestId {
            name: request.metadata.name.unwrap_or_default(),
            uid: request.metadata.uid.unwrap_or_default(),
        },
        requestor: request.spec.username.unwrap_or_default(),
        groups: request.spec.groups.unwrap_or_default(),
        usages: request.spec.usages.unwrap_or_default(),
        wanted: wanted(&request.spec.request.0),
        state: state(&conditions),
    }
}

fn state(conditions: &[CertificateSigningRequestCondition]) -> RequestState {
    let has = |kind: &str| conditions.iter().any(|condition| condition.type_ == kind);
    if has("Denied") || has("Failed") {
        RequestState::Refused
    } else if has("Approved") {
        RequestState::Approved
    } else {
        RequestState::Pending
    }
}

/// What a PKCS #10 request in PEM asks for. Its signature is the signer's business.
fn wanted(pem: &[u8]) -> std::result::Result<WantedCertificate, String> {
    let (_, pem) = x509_parser::pem::parse_x509_pem(pem).map_err(|error| format!("no PEM: {error}"))?;
    let (_, request) = X509CertificationRequest::from_der(&pem.contents)
        .map_err(|error| format!("no certificate request: {error}"))?;
    let subject = &request.certification_request_info.subject;
    let text = |value: &AttributeTypeAndValue<'_>| {
        value.as_str().map(str::to_owned).map_err(|error| format!("its subject is no text: {error}"))
    };
    let names: Vec<String> = subject.iter_common_name().map(text).collect::<std::result::Result<_, _>>()?;
    let [common_name] = names.as_slice() else { return Err("it has not one common name".to_owned()) };
    let mut wanted = WantedCertificate {
        common_name: common_name.clone(),
        organizations: subject.iter_organization().map(text).collect::<std::result::Result<_, _>>()?,
        ..WantedCertificate::default()
    };
    for extension in request.requested_extensions().into_iter().flatten() {
        if let ParsedExtension::SubjectAlternativeName(names) = extension {
            names.general_names.iter().for_each(|name| add(&mut wanted, name));
        } else if let ParsedExtension::ParseError { error } = extension {
            return Err(error.to_string());
        }
    }
    Ok(wanted)
}

fn add(wanted: &mut WantedCertificate, name: &GeneralName<'_>) {
    let address = |bytes: &[u8]| {
        let v4 = <[u8; 4]>::try_from(bytes).map(std::net::IpAddr::from);
        v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(std::net::IpAddr::from)).ok()
    };
    if let GeneralName::DNSName(name) = name {
        wanted.dns_names.push((*name).to_owned());
    } else if let GeneralName::IPAddress(bytes) = name
        && let Some(address) = address(bytes)
    {
        wanted.addresses.push(address);
    } else {
        wanted.others.push(name.to_string());
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};

    use super::*;

    #[test]
    fn all_that_a_request_asks_for_is_read_and_what_no_kubelet_has_is_kept_apart() {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "system:nodes");
        params.distinguished_name.push(DnType::CommonName, "system:node:a");
        params.subject_alt_names = vec![
            SanType::DnsName("a".try_into().unwrap()),
            SanType::IpAddress([10, 0, 0, 1].into()),
            SanType::IpAddress("fd00::1".parse().unwrap()),
            SanType::Rfc822Name("a@b".try_into().unwrap()),
        ];
        let request = params.serialize_request(&KeyPair::generate().unwrap()).unwrap().pem().unwrap();
        let wanted = wanted(request.as_bytes()).unwrap();
        assert_eq!(wanted.common_name, "system:node:a");
        assert_eq!(wanted.organizations, ["system:nodes"]);
        assert_eq!(wanted.dns_names, ["a"]);
        let addresses: Vec<_> = wanted.addresses.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["10.0.0.1", "fd00::1"]);
        assert_eq!(wanted.others.len(), 1, "{:?}", wanted.others);
    }

    #[test]
    fn what_is_no_request_is_said_so() {
        assert!(wanted(b"").unwrap_err().starts_with("no PEM"));
        let other = b"-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
        assert!(wanted(other).unwrap_err().starts_with("no certificate request"));
    }
}
