//! Client certificates of any role and time, from the authority of a configuration.

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair, KeyUsagePurpose,
    PKCS_ED25519,
};
use simulator::configuration::{Judge, Secret};

use crate::lab::program;

pub(super) struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// The authority of the Talos API in a configuration.
    pub(super) async fn of(configuration: &Secret) -> Self {
        let judge = Judge::new(program("talos-configuration"));
        let decoded = judge.decode(configuration.expose().as_bytes()).await.unwrap();
        let own = decoded.configuration.unwrap().machine.ca.unwrap();
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = organization("talos");
        let issuer = Issuer::new(parameters, KeyPair::from_pem(own.key.expose()).unwrap());
        Self { certificate: own.certificate, issuer }
    }

    /// A talosconfig with a certificate of a role (none for an empty one), valid between these hours from now.
    pub(super) fn talosconfig(&self, role: &str, hours: Range<i64>) -> Secret {
        self.talosconfig_trusting(self, role, hours)
    }

    /// The same, for a machine with another authority.
    pub(super) fn talosconfig_trusting(&self, trusted: &Self, role: &str, hours: Range<i64>) -> Secret {
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name =
            if role.is_empty() { DistinguishedName::new() } else { organization(role) };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let at = |hours: i64| {
            let seconds = now.as_secs().saturating_add_signed(hours * 3600);
            rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds)
        };
        (parameters.not_before, parameters.not_after) = (at(hours.start), at(hours.end));
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap().pem();
        let encoded = |text: &str| STANDARD.encode(text);
        Secret::new(format!(
            "context: test\ncontexts:\n  test:\n    endpoints: []\n    ca: {}\n    crt: {}\n    key: {}\n",
            encoded(&trusted.certificate),
            encoded(&certificate),
            encoded(&key.serialize_pem()),
        ))
    }
}

fn organization(name: &str) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    // As Go encodes it: issuer and subject are compared byte by byte.
    let value = match name.try_into() {
        Ok(printable) => rcgen::DnValue::PrintableString(printable),
        Err(_) => rcgen::DnValue::Utf8String(name.to_owned()),
    };
    subject.push(DnType::OrganizationName, value);
    subject
}
