//! Certificates and private keys. Keys come from the cryptographic library, never from the seed: they are new in
//! every rendering.

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};

use super::Parameter::{Certificate, Int, List, String as Text};
use super::arguments::Arguments;
use super::{Function, der, keys, pure, world};
use crate::template::execute::Executor;
use crate::template::failure::Cause;
use crate::value::{Object, Value, convert};
use keys::Key;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("genPrivateKey", &[Text], |arguments| Ok(Value::string(Key::generate(&arguments.string(0))?.pem()))),
    world("genCA", &[Text, Int], |executor, arguments| {
        let key = executor.world.keys.take()?;
        Request::authority(&arguments).issue(executor, key, None)
    }),
    world("genCAWithKey", &[Text, Int, Text], |executor, arguments| {
        Request::authority(&arguments).issue(executor, Key::from_pem(&arguments.string(2))?, None)
    }),
    world("genSelfSignedCert", &[Text, List, List, Int], |executor, arguments| {
        let request = Request::leaf(&arguments)?;
        let key = executor.world.keys.take()?;
        request.issue(executor, key, None)
    }),
    world("genSelfSignedCertWithKey", &[Text, List, List, Int, Text], |executor, arguments| {
        Request::leaf(&arguments)?.issue(executor, Key::from_pem(&arguments.string(4))?, None)
    }),
    world("genSignedCert", &[Text, List, List, Int, Certificate], |executor, arguments| {
        let issuer = Issuer::of(arguments.at(4))?;
        let request = Request::leaf(&arguments)?;
        let key = executor.world.keys.take()?;
        request.issue(executor, key, Some(&issuer))
    }),
    world("genSignedCertWithKey", &[Text, List, List, Int, Certificate, Text], |executor, arguments| {
        let issuer = Issuer::of(arguments.at(4))?;
        Request::leaf(&arguments)?.issue(executor, Key::from_pem(&arguments.string(5))?, Some(&issuer))
    }),
    pure("buildCustomCert", &[Text, Text], |arguments| {
        let decode = |index: usize, name: &str| {
            let decoded =
                STANDARD.decode(arguments.text(index)).ok().and_then(|data| String::from_utf8(data).ok());
            decoded.ok_or_else(|| Cause::Plain(format!("unable to decode base64 {name}")))
        };
        let (certificate, key) = (decode(0, "certificate")?, decode(1, "private key")?);
        let parsed = pem_content(&certificate, "CERTIFICATE")
            .ok_or_else(|| Cause::from("unable to decode certificate"))?;
        Parsed::read(&parsed)
            .ok_or_else(|| Cause::from("error parsing certificate: malformed certificate"))?;
        Key::from_pem(&key).map_err(|_| Cause::from("error parsing private key"))?;
        Ok(Value::object(Object::Certificate { certificate, key }))
    }),
];

/// What a certificate shall say.
struct Request {
    common_name: String,
    addresses: Vec<Vec<u8>>,
    names: Vec<String>,
    days: i64,
    is_authority: bool,
}

/// Who signs a certificate.
struct Issuer {
    subject: Vec<u8>,
    key_identifier: Option<Vec<u8>>,
    key: Key,
}

impl Request {
    fn authority(arguments: &Arguments) -> Self {
        Self {
            common_name: arguments.string(0),
            addresses: Vec::new(),
            names: Vec::new(),
            days: arguments.int(1),
            is_authority: true,
        }
    }

    fn leaf(arguments: &Arguments) -> Result<Self, Cause> {
        let texts = |index: usize, what: &str| match arguments.at(index) {
            Value::List(_, items) => {
                let text = |item: &Value| match item {
                    Value::String(text) => Ok(text.lossy().into_owned()),
                    other => {
                        let found = crate::value::format::shown(other);
                        Err(Cause::Plain(format!("error parsing {what}: {found} is not a string")))
                    }
                };
                items.iter().map(text).collect::<Result<Vec<_>, _>>()
            }
            _ => Ok(Vec::new()),
        };
        let address = |text: String| match text.parse() {
            Ok(std::net::IpAddr::V4(address)) => Ok(address.octets().to_vec()),
            Ok(std::net::IpAddr::V6(address)) => Ok(address.octets().to_vec()),
            Err(_) => Err(Cause::Plain(format!("error parsing ip: {text}"))),
        };
        Ok(Self {
            common_name: convert::text_of(arguments.at(0)),
            addresses: texts(1, "ip")?.into_iter().map(address).collect::<Result<_, _>>()?,
            names: texts(2, "alternate dns name")?,
            days: arguments.int(3),
            is_authority: false,
        })
    }

    /// Signs the certificate of `key`; without an issuer, by itself.
    fn issue(&self, executor: &mut Executor<'_>, key: Key, issuer: Option<&Issuer>) -> Result<Value, Cause> {
        let mut serial = [0; 16];
        executor.world.random.fill(&mut serial);
        let subject = name(&self.common_name);
        let signer = issuer.map_or(&key, |issuer| &issuer.key);
        let algorithm = signer.signature_algorithm();
        let public_key = key.public_key_info();
        let body = der::composed(
            der::SEQUENCE,
            &[
                // Version 3.
                &der::value(0xa0, &der::unsigned(&[2])),
                &der::unsigned(&serial),
                &algorithm,
                issuer.map_or(&subject, |issuer| &issuer.subject),
                &self.validity(executor.world.now)?,
                &subject,
                &public_key,
                &der::value(0xa3, &self.extensions(&public_key, issuer)),
            ],
        );
        let signature = der::bits(&signer.sign(&body)?);
        let certificate = der::composed(der::SEQUENCE, &[&body, &algorithm, &signature]);
        Ok(Value::object(Object::Certificate {
            certificate: pem("CERTIFICATE", &certificate),
            key: key.pem(),
        }))
    }

    fn validity(&self, now: Timestamp) -> Result<Vec<u8>, Cause> {
        let length = SignedDuration::from_hours(self.days.saturating_mul(24).clamp(-87_600_000, 87_600_000));
        let end = now.checked_add(length).map_err(|error| Cause::Plain(error.to_string()))?;
        Ok(der::composed(der::SEQUENCE, &[&time(now), &time(end)]))
    }

    fn extensions(&self, public_key: &[u8], issuer: Option<&Issuer>) -> Vec<u8> {
        // Digital signature and key encipherment; for an authority also signing certificates.
        let usage: &[u8] = if self.is_authority { &[2, 0xa4] } else { &[5, 0xa0] };
        let purposes = der::composed(
            der::SEQUENCE,
            &[&identifier(&[0x2b, 6, 1, 5, 5, 7, 3, 1]), &identifier(&[0x2b, 6, 1, 5, 5, 7, 3, 2])],
        );
        let constraints: &[u8] = if self.is_authority { &[1, 1, 0xff] } else { &[] };
        let mut extensions = vec![
            extension(0x0f, true, &der::value(der::BIT_STRING, usage)),
            extension(0x25, false, &purposes),
            extension(0x13, true, &der::value(der::SEQUENCE, constraints)),
        ];
        if self.is_authority {
            extensions.push(extension(
                0x0e,
                false,
                &der::value(der::OCTET_STRING, &key_identifier(public_key)),
            ));
        }
        if let Some(identifier) = issuer.and_then(|issuer| issuer.key_identifier.as_ref()) {
            let content = der::value(der::SEQUENCE, &der::value(0x80, identifier));
            extensions.push(extension(0x23, false, &content));
        }
        let names = self.names.iter().map(|name| der::value(0x82, name.as_bytes()));
        let addresses = self.addresses.iter().map(|address| der::value(0x87, address));
        let alternatives: Vec<u8> = names.chain(addresses).flatten().collect();
        if !alternatives.is_empty() {
            extensions.push(extension(0x11, false, &der::value(der::SEQUENCE, &alternatives)));
        }
        der::value(der::SEQUENCE, &extensions.concat())
    }
}

impl Issuer {
    fn of(certificate: &Value) -> Result<Self, Cause> {
        let Value::Object(object) = certificate else { return Err("expected a certificate".into()) };
        let Object::Certificate { certificate, key } = &**object else {
            return Err("expected a certificate".into());
        };
        let content = pem_content(certificate, "CERTIFICATE")
            .ok_or_else(|| Cause::from("unable to decode certificate"))?;
        let parsed = Parsed::read(&content)
            .ok_or_else(|| Cause::from("error parsing certificate: malformed certificate"))?;
        Ok(Self { subject: parsed.subject, key_identifier: parsed.key_identifier, key: Key::from_pem(key)? })
    }
}

/// What is read of a certificate.
struct Parsed {
    subject: Vec<u8>,
    key_identifier: Option<Vec<u8>>,
}

impl Parsed {
    fn read(certificate: &[u8]) -> Option<Self> {
        let (whole, _) = der::read(certificate)?;
        let (body, _) = der::read(whole.content)?;
        let mut fields = der::read_all(body.content)?;
        if fields.first()?.tag == 0xa0 {
            fields.remove(0);
        }
        // Serial number, algorithm, issuer, validity, subject, key.
        let subject = fields.get(4)?.whole.to_vec();
        fields.get(5)?;
        let extensions = fields.iter().find(|field| field.tag == 0xa3);
        let key_identifier = extensions.and_then(|extensions| Self::subject_key(extensions.content));
        Some(Self { subject, key_identifier })
    }

    fn subject_key(extensions: &[u8]) -> Option<Vec<u8>> {
        let (list, _) = der::read(extensions)?;
        for extension in der::read_all(list.content)? {
            let parts = der::read_all(extension.content)?;
            if parts.first()?.content == [0x55, 0x1d, 0x0e] {
                let (identifier, _) = der::read(parts.last()?.content)?;
                return Some(identifier.content.to_vec());
            }
        }
        None
    }
}

/// A name that has nothing but a common name.
fn name(common_name: &str) -> Vec<u8> {
    let printable =
        common_name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte));
    let tag = if printable { der::PRINTABLE_STRING } else { der::UTF8_STRING };
    if common_name.is_empty() {
        return der::value(der::SEQUENCE, &[]);
    }
    let attribute =
        der::composed(der::SEQUENCE, &[&identifier(&[0x55, 4, 3]), &der::value(tag, common_name.as_bytes())]);
    der::value(der::SEQUENCE, &der::value(der::SET, &attribute))
}

fn identifier(content: &[u8]) -> Vec<u8> {
    der::value(der::OBJECT_IDENTIFIER, content)
}

/// An extension of the family 2.5.29.
fn extension(number: u8, critical: bool, content: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if critical { &[1, 1, 0xff] } else { &[] };
    der::composed(
        der::SEQUENCE,
        &[&identifier(&[0x55, 0x1d, number]), critical, &der::value(der::OCTET_STRING, content)],
    )
}

/// Years up to 2049 have two digits.
fn time(time: Timestamp) -> Vec<u8> {
    let zoned = time.to_zoned(jiff::tz::TimeZone::UTC);
    let (tag, layout) = if (1950..2050).contains(&zoned.year()) {
        (der::UTC_TIME, "060102150405Z")
    } else {
        (der::GENERALIZED_TIME, "20060102150405Z")
    };
    der::value(tag, super::date::format(&zoned, layout).as_bytes())
}

/// The first 160 bits of the SHA-256 of the key's bits (RFC 7093), as Go makes it.
fn key_identifier(public_key_info: &[u8]) -> Vec<u8> {
    let bits = der::read(public_key_info)
        .and_then(|(info, _)| der::read_all(info.content))
        .and_then(|parts| parts.last().map(|bits| bits.content.get(1..).unwrap_or_default()))
        .unwrap_or_default();
    digest::digest(&digest::SHA256, bits).as_ref()[..20].to_vec()
}

/// DER as PEM.
pub(super) fn pem(label: &str, content: &[u8]) -> String {
    let encoded = STANDARD.encode(content);
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in encoded.as_bytes().chunks(64) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
    }
    text.push_str(&format!("-----END {label}-----\n"));
    text
}

/// The DER of the first PEM block of that label.
pub(super) fn pem_content(text: &str, label: &str) -> Option<Vec<u8>> {
    let start = format!("-----BEGIN {label}-----");
    let (_, rest) = text.split_once(&start)?;
    let (encoded, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let encoded: String = encoded.chars().filter(|character| !character.is_whitespace()).collect();
    STANDARD.decode(encoded).ok()
}
