//! The kubeconfig that a control-plane machine hands out.

use std::io::Read;

use flate2::read::GzDecoder;

use super::deadline::CALL;
use super::error::{Error, Fault};
use super::session::Session;
use crate::domain::machine_configuration::Secret;

/// The largest kubeconfig that is read: a certificate authority's bundle of some hundred certificates.
const MAXIMUM: u64 = 1 << 20;

impl Session {
    pub(super) async fn kubeconfig(&self) -> Result<Secret, Error> {
        let pieces = self.collect("Kubeconfig", CALL, self.machine().kubeconfig(())).await?;
        let archive: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.bytes).collect();
        first_entry(&archive).map_err(|error| {
            self.error(
                "Kubeconfig",
                Fault::Malformed(format!("not a compressed archive of one file: {error}")),
            )
        })
    }
}

/// Talos' archive has one entry and no trailer: asking for a second one fails.
fn first_entry(archive: &[u8]) -> std::io::Result<Secret> {
    let mut archive = tar::Archive::new(GzDecoder::new(archive));
    let entry = archive.entries()?.next();
    let entry = entry.ok_or(std::io::ErrorKind::UnexpectedEof)??;
    let mut text = String::new();
    entry.take(MAXIMUM).read_to_string(&mut text)?;
    Ok(Secret::new(text))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn an_archive_without_a_trailer_is_read() {
        let content = "apiVersion: v1\n";
        let mut header = tar::Header::new_ustar();
        header.set_path("kubeconfig").unwrap();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        header.set_cksum();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(header.as_bytes()).unwrap();
        gzip.write_all(content.as_bytes()).unwrap();
        let archive = gzip.finish().unwrap();
        assert_eq!(first_entry(&archive).unwrap().expose(), content);
    }

    #[test]
    fn what_is_not_an_archive_is_an_error() {
        assert!(first_entry(b"not gzip").is_err());
        assert!(first_entry(&[]).is_err());
    }
}
