//! Kubelets' serving certificates: asked of the real API server, approved by the provider, signed by the cluster.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::{Failed, Trial};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use serde_json::{Value, json};

use crate::cases::cases_of;
use crate::cases::cluster::ready;
use crate::cluster::{Cluster, kubectl};
use crate::golden;
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[("kubelet_serving_certificates_are_approved_now_and_when_they_are_renewed", approved)])
}

fn approved(rig: &mut Rig) -> Result<(), Failed> {
    let mut cluster = Cluster::of(1, 1)?;
    cluster.cilium = "enabled = false".to_owned();
    cluster.cert_manager = "enabled = false".to_owned();
    cluster.arguments = "approve_kubelet_serving_certificates = true".to_owned();
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(signed(rig)?, ["system:node:cp-1", "system:node:w-1"]);

    let address = rig.address(21).to_string();
    request(rig, "renewal", &address)?;
    let planned = rig.plan(&["-json"])?.expect_code(2)?;
    golden::expect("serving-certificates/renewal", &golden::diagnostics(rig, &planned))?;
    rig.apply(&[])?.expect_code(0)?;
    ready(rig)?;
    assert_eq!(signed(rig)?, ["system:node:cp-1", "system:node:w-1", "system:node:w-1"]);

    // A node that asks for another's address gets nothing, and no plan offers it.
    request(rig, "trick", &rig.address(11).to_string())?;
    rig.plan(&[])?.expect_code(0)?;
    assert_eq!(signed(rig)?.len(), 3);
    Ok(())
}

/// Who has a signed serving certificate, once for each.
fn signed(rig: &Rig) -> Result<Vec<String>, Failed> {
    let listed = kubectl(rig, &["get", "certificatesigningrequests", "--output", "json"])?.expect_code(0)?;
    let listed: Value = serde_json::from_str(&listed.stdout)?;
    let requests = listed["items"].as_array().cloned().unwrap_or_default();
    let is_signed = |request: &&Value| {
        request["spec"]["signerName"] == "kubernetes.io/kubelet-serving"
            && request["status"]["certificate"].is_string()
    };
    let by = |request: &Value| request["spec"]["username"].as_str().unwrap_or_default().to_owned();
    let mut signed: Vec<String> = requests.iter().filter(is_signed).map(by).collect();
    signed.sort();
    Ok(signed)
}

/// Asks for a serving certificate as the kubelet of `w-1` would.
fn request(rig: &Rig, name: &str, address: &str) -> Result<(), Failed> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "system:nodes");
    params.distinguished_name.push(DnType::CommonName, "system:node:w-1");
    params.subject_alt_names = vec![SanType::IpAddress(address.parse()?)];
    let request = params.serialize_request(&KeyPair::generate()?)?.pem()?;
    let object = json!({
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": { "name": name },
        "spec": {
            "signerName": "kubernetes.io/kubelet-serving",
            "usages": ["digital signature", "server auth"],
            "request": STANDARD.encode(request),
        },
    });
    let file = rig.folder().join(format!("{name}.json"));
    std::fs::write(&file, object.to_string())?;
    let file = file.display().to_string();
    let as_node =
        ["--as", "system:node:w-1", "--as-group", "system:nodes", "--as-group", "system:authenticated"];
    kubectl(rig, &[&["create", "--filename", &file], &as_node[..]].concat())?.expect_code(0)?;
    Ok(())
}
