//! Authorities: making one, and signing with one.

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, DnValue, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, PublicKeyData, SerialNumber,
};
use x509_parser::asn1_rs::Tag;
use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::error::Error;
use super::keys::Key;
use super::random::{Random, bytes};
use super::{pem, validity};
use crate::domain::machine_configuration::CertificateAndKey;

/// A new authority with `key`, named by its organisation alone, or by nothing, as Talos names its four.
pub(super) fn generate(
    organisation: Option<&str>,
    key: &Key,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<CertificateAndKey, Error> {
    let mut parameters = blank(random)?;
    if let Some(organisation) = organisation {
        push(&mut parameters.distinguished_name, DnType::OrganizationName, organisation)?;
    }
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    parameters.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    parameters.key_identifier_method = KeyIdMethod::PreSpecified(bytes::<20>(random)?.to_vec());
    validity::of_authority(&mut parameters, now);
    let certificate =
        parameters.self_signed(&key.pair).map_err(|_| Error::Cryptography("an authority's certificate"))?;
    Ok(CertificateAndKey { certificate: pem::certificate(certificate.der()), key: key.pem.clone() })
}

/// Signs a client's certificate: `subject` in this order, for clients only. PEM.
pub(super) fn sign_client(
    authority: &CertificateAndKey,
    whose: &'static str,
    subject: &[(DnType, &str)],
    key_usages: &[KeyUsagePurpose],
    key: &Key,
    now: Timestamp,
    random: &mut dyn Random,
) -> Result<String, Error> {
    let signing = |why: String| Error::Signing { authority: whose, why };
    let certificate = pem::read_certificate(&format!("the certificate of {whose}"), &authority.certificate)?;
    let unparsable = |_| pem::unreadable(&format!("the certificate of {whose}"), "not an X.509 certificate");
    let (_, parsed) = X509Certificate::from_der(&certificate).map_err(unparsable)?;
    let issuer = issuer(&parsed, authority, whose)?;

    let mut parameters = blank(random)?;
    for (r#type, value) in subject {
        push(&mut parameters.distinguished_name, r#type.clone(), value)?;
    }
    parameters.key_usages = key_usages.to_vec();
    // Exactly this one: Talos refuses a certificate that could also be a server's.
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    parameters.use_authority_key_identifier_extension = subject_key_identifier(&parsed).is_some();
    validity::of_client(&mut parameters, now);
    let signed = parameters.signed_by(&key.pair, &issuer).map_err(|error| signing(error.to_string()))?;

    // Verifiers compare names byte by byte; one that we can't repeat exactly would give a certificate that nobody
    // accepts.
    let (_, leaf) = X509Certificate::from_der(signed.der()).map_err(unparsable)?;
    if leaf.issuer().as_raw() != parsed.subject().as_raw() {
        return Err(signing("its name has several values of one type".to_owned()));
    }
    Ok(pem::certificate(signed.der()))
}

/// The authority as it stands in its certificate: with its own name and key identifier, not with ones derived anew.
fn issuer(
    certificate: &X509Certificate<'_>,
    authority: &CertificateAndKey,
    whose: &'static str,
) -> Result<Issuer<'static, KeyPair>, Error> {
    let what = format!("the key of {whose}");
    let key = pem::read_key(&what, &authority.key)?;
    let key = KeyPair::try_from(&key)
        .map_err(|_| pem::unreadable(&what, "expected a key of Ed25519, ECDSA or RSA"))?;
    if key.subject_public_key_info() != certificate.tbs_certificate.subject_pki.raw {
        return Err(Error::KeyMismatch(whose));
    }
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = name(certificate, whose)?;
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    if let Some(identifier) = subject_key_identifier(certificate) {
        parameters.key_identifier_method = KeyIdMethod::PreSpecified(identifier);
    }
    Ok(Issuer::new(parameters, key))
}

fn name(certificate: &X509Certificate<'_>, whose: &'static str) -> Result<DistinguishedName, Error> {
    let signing = |why: &str| Error::Signing { authority: whose, why: why.to_owned() };
    let mut name = DistinguishedName::new();
    for attribute in certificate.subject().iter_attributes() {
        let identifier: Vec<u64> = attribute
            .attr_type()
            .iter()
            .ok_or_else(|| signing("its name has an attribute without a type"))?
            .collect();
        let text = attribute.as_str().map_err(|_| signing("its name is not text"))?;
        let value = match attribute.attr_value().header.tag() {
            Tag::PrintableString => printable(text)?,
            Tag::Utf8String => DnValue::Utf8String(text.to_owned()),
            _ => return Err(signing("its name is in an encoding that no authority of today uses")),
        };
        name.push(DnType::from_oid(&identifier), value);
    }
    Ok(name)
}

fn subject_key_identifier(certificate: &X509Certificate<'_>) -> Option<Vec<u8>> {
    certificate.extensions().iter().find_map(|extension| {
        if let ParsedExtension::SubjectKeyIdentifier(identifier) = extension.parsed_extension() {
            Some(identifier.0.to_vec())
        } else {
            None
        }
    })
}

/// Parameters without the library's placeholder name, and with a random serial number of 128 bits.
fn blank(random: &mut dyn Random) -> Result<CertificateParams, Error> {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.serial_number = Some(SerialNumber::from_slice(&bytes::<16>(random)?));
    Ok(parameters)
}

/// Go writes names in the plainest encoding that holds them.
fn push(name: &mut DistinguishedName, r#type: DnType, text: &str) -> Result<(), Error> {
    name.push(r#type, printable(text)?);
    Ok(())
}

fn printable(text: &str) -> Result<DnValue, Error> {
    let printable = text.try_into().map_err(|_| pem::unreadable("a name", "it is not printable"))?;
    Ok(DnValue::PrintableString(printable))
}
