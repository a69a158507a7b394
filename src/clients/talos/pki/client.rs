//! Our own certificates.

use jiff::Timestamp;
use rcgen::{DnType, KeyUsagePurpose};

use super::super::error::Fault;
use super::super::tls::Credentials;
use super::error::Error;
use super::random::Random;
use super::{authority, keys};
use crate::domain::machine_configuration::{Secret, SecretsBundle};

/// A client's certificate and key, and the authority that it may trust; all PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate of the authority that signed it, and that servers are verified by.
    pub authority: String,
    /// The client's certificate.
    pub certificate: String,
    /// The client's key.
    pub key: Secret,
}

impl ClientCertificate {
    /// Credentials for Talos' API.
    ///
    /// # Errors
    ///
    /// [`Fault::Credentials`] naming the part that can't be read.
    pub fn credentials(&self) -> Result<Credentials, Fault> {
        Credentials::from_pem(&self.authority, &self.certificate, self.key.expose())
    }
}

/// A certificate with all rights at Talos' API (role `os:admin`) from an hour before `now`, for a year.
///
/// # Errors
///
/// If the bundle's authority can't sign.
pub fn administrator(
    secrets: &SecretsBundle,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<ClientCertificate, Error> {
    let key = keys::ed25519(random)?;
    // Talos reads the roles from the organisation and nothing else.
    let subject = [(DnType::OrganizationName, "os:admin")];
    let usages = [KeyUsagePurpose::DigitalSignature];
    let whose = "Talos' certificate authority";
    let certificate = authority::sign_client(&secrets.os, whose, &subject, &usages, &key, now, random)?;
    Ok(ClientCertificate { authority: secrets.os.certificate.clone(), certificate, key: key.pem })
}

/// A certificate with all rights at Kubernetes' API (`admin` of `system:masters`) from an hour before `now`, for a
/// year.
///
/// # Errors
///
/// If the bundle's authority can't sign.
pub fn kubernetes_administrator(
    secrets: &SecretsBundle,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<ClientCertificate, Error> {
    let key = keys::p256()?;
    let subject = [(DnType::OrganizationName, "system:masters"), (DnType::CommonName, "admin")];
    let usages = [KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    let whose = "Kubernetes' certificate authority";
    let certificate =
        authority::sign_client(&secrets.kubernetes, whose, &subject, &usages, &key, now, random)?;
    Ok(ClientCertificate { authority: secrets.kubernetes.certificate.clone(), certificate, key: key.pem })
}
