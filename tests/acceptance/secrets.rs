//! Finds secrets in what people and log collectors get to see.
//!
//! What is secret is taken from where it may stand: the state, whose sensitive attributes hold kubeconfig, talosconfig
//! and machine secrets, and the inventory, whose form does not matter here: private keys and tokens are known by their
//! looks.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use libtest_mimic::Failed;
use regex::Regex;

/// How the base64 of every PEM block begins.
const PEM: &str = "LS0tLS1CRUdJTi";
/// Values shorter than this are found in every text.
const SHORTEST: usize = 12;

/// Texts that must not be shown.
#[derive(Default)]
pub(crate) struct Secrets(BTreeSet<String>);

impl Secrets {
    /// Adds every secret in a text: private keys, tokens, and the values of fields that hold such.
    pub(crate) fn collect(&mut self, text: &str) -> Result<(), Failed> {
        // Documents are nested in documents: in a state, YAML stands in JSON texts.
        let text = text.replace("\\n", "\n").replace("\\\"", "\"");
        self.0.extend(encoded_keys(&text)?);
        self.0.extend(key_bodies(&text)?);
        let bootstrap_token = Regex::new(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b")?;
        self.0.extend(bootstrap_token.find_iter(&text).map(|found| found.as_str().to_owned()));
        let field = Regex::new(
            r#"(?i)"?(?:secret|token|bootstraptoken|secretboxencryptionsecret|aescbcencryptionsecret|client-key-data|password)"?\s*:\s*"?([A-Za-z0-9+/=._-]+)"#,
        )?;
        self.0.extend(field.captures_iter(&text).map(|found| found[1].to_owned()));
        self.0.retain(|secret| secret.len() >= SHORTEST);
        Ok(())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Where a text shows one of them, or any private key at all. The findings name no secret.
    pub(crate) fn shown_in(&self, text: &str) -> Result<Vec<String>, Failed> {
        let known = self.0.iter().filter_map(|secret| {
            let at = text.find(secret.as_str())?;
            Some(format!("a secret of {} characters in line {}", secret.len(), line(text, at)))
        });
        let unknown = encoded_keys(text)?.into_iter().chain(key_bodies(text)?).filter_map(|key| {
            (!self.0.contains(&key)).then(|| {
                let at = text.find(&key).unwrap_or_default();
                format!("a private key in line {}", line(text, at))
            })
        });
        Ok(known.chain(unknown).collect())
    }
}

/// Base64 of PEM private keys, as it stands in kubeconfigs and machine configurations.
fn encoded_keys(text: &str) -> Result<Vec<String>, Failed> {
    let encoded = Regex::new(&format!("{PEM}[A-Za-z0-9+/]+"))?;
    let is_key = |candidate: &str| {
        // A text may be cut anywhere: whole groups of four decode.
        let whole = &candidate[..candidate.len() / 4 * 4];
        STANDARD_NO_PAD.decode(whole).is_ok_and(|pem| contains(&pem, b"PRIVATE KEY"))
    };
    Ok(encoded
        .find_iter(text)
        .map(|found| found.as_str())
        .filter(|found| is_key(found))
        .map(str::to_owned)
        .collect())
}

/// The first line of the body of each PEM private key.
fn key_bodies(text: &str) -> Result<Vec<String>, Failed> {
    let key = Regex::new(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:\s|\\n)+([A-Za-z0-9+/=]+)")?;
    Ok(key.captures_iter(text).map(|found| found[1].to_owned()).collect())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}
