//! Which of a machine's candidate addresses answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;

use super::connection::Connection;
use super::error::{Error, Fault};
use super::handshake::shake;
use super::session::Session;
use crate::domain::names::Address;

/// Where Talos' API listens.
pub const PORT: u16 = 50000;

/// An address that was dialled in vain, and why.
#[derive(Debug)]
pub struct Refusal {
    /// The candidate.
    pub address: Address,
    /// What came of it.
    pub error: Error,
}

/// No candidate answered as it should; one entry each, in the candidates' order.
#[derive(Debug, Default)]
pub struct Failures(Vec<Refusal>);

impl Failures {
    /// Every candidate's failure.
    #[must_use]
    pub fn refusals(&self) -> &[Refusal] {
        &self.0
    }

    /// The most telling failure: the first of a machine that answered something, else the first of all. `None` only
    /// if there was no candidate.
    #[must_use]
    pub fn foremost(&self) -> Option<&Error> {
        let answered = self.0.iter().find(|refusal| !refusal.error.fault().is_unreachable());
        answered.or_else(|| self.0.first()).map(|refusal| &refusal.error)
    }

    /// Whether a machine asked for a client certificate: it is configured already.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.any(&Fault::CertificateRequired)
    }

    /// Whether a machine answered an administrator in maintenance mode: it is not configured, or not any more.
    #[must_use]
    pub fn is_in_maintenance(&self) -> bool {
        self.any(&Fault::InMaintenance)
    }

    /// Whether a machine of another cluster answered.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.any(&Fault::Foreign)
    }

    /// Whether no candidate answered anything.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        self.0.iter().all(|refusal| refusal.error.fault().is_unreachable())
    }

    /// Whether dialling again may succeed without anybody changing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.0.iter().any(|refusal| refusal.error.is_transient())
    }

    fn any(&self, fault: &Fault) -> bool {
        self.0.iter().any(|refusal| refusal.error.fault() == fault)
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("dial the machine: it has no address"),
            [only] => write!(f, "{}: {}", only.error, only.error.fault()),
            several => {
                write!(f, "dial any of {} addresses", several.len())?;
                for (index, refusal) in several.iter().enumerate() {
                    let separator = if index == 0 { ": " } else { "; " };
                    write!(f, "{separator}{}: {}", refusal.address, refusal.error.fault())?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Failures {}

/// A session on one address, and the certificate that the machine showed.
pub(super) async fn dial(
    address: &Address,
    configuration: Arc<ClientConfig>,
    budget: Duration,
) -> Result<(Session, CertificateDer<'static>), Error> {
    let target = address.with_port(PORT);
    let session = async {
        let stream = shake(address, PORT, configuration, budget).await?;
        let certificate = stream.certificate().cloned();
        let certificate =
            certificate.ok_or_else(|| Fault::Handshake("the machine showed no certificate".to_owned()))?;
        let connection = Connection::start(stream).await?;
        Ok((Session::new(connection, target.clone())?, certificate))
    };
    session.await.map_err(|fault| Error::new("dial", &target, fault))
}

/// Dials one candidate after the other until one answers.
///
/// # Errors
///
/// Why none did.
pub(super) async fn in_order<T, F>(candidates: &[Address], dial: impl Fn(Address) -> F) -> Result<T, Failures>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut failures = Failures::default();
    for address in candidates {
        match dial(address.clone()).await {
            Ok(client) => return Ok(client),
            Err(error) => failures.0.push(Refusal { address: address.clone(), error }),
        }
    }
    Err(failures)
}

/// Dials all candidates together; the first to answer wins.
///
/// # Errors
///
/// Why none did, in the candidates' order.
pub(super) async fn at_once<T, F>(candidates: &[Address], dial: impl Fn(Address) -> F) -> Result<T, Failures>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut attempts: FuturesUnordered<_> = candidates
        .iter()
        .enumerate()
        .map(|(index, address)| {
            let attempt = dial(address.clone());
            async move { (index, address, attempt.await) }
        })
        .collect();
    let mut failures = Vec::new();
    while let Some((index, address, outcome)) = attempts.next().await {
        match outcome {
            Ok(client) => return Ok(client),
            Err(error) => failures.push((index, Refusal { address: address.clone(), error })),
        }
    }
    failures.sort_by_key(|(index, _)| *index);
    Err(Failures(failures.into_iter().map(|(_, refusal)| refusal).collect()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn failures(faults: &[Fault]) -> Failures {
        let refusal = |(index, fault): (usize, &Fault)| {
            let address = Address::parse(&format!("10.0.0.{}", index + 1)).unwrap();
            let error = Error::new("dial", &address.with_port(PORT), fault.clone());
            Refusal { address, error }
        };
        Failures(faults.iter().enumerate().map(refusal).collect())
    }

    #[test]
    fn names_every_address_that_was_tried() {
        assert_eq!(
            failures(&[Fault::Refused, Fault::CertificateRequired]).to_string(),
            "dial any of 2 addresses: 10.0.0.1: connection refused; 10.0.0.2: the machine is already configured: it \
             asks for a client certificate"
        );
        assert_eq!(failures(&[Fault::Refused]).to_string(), "dial 10.0.0.1:50000: connection refused");
        assert_eq!(failures(&[]).to_string(), "dial the machine: it has no address");
    }

    #[test]
    fn an_answer_tells_more_than_silence() {
        let found = failures(&[Fault::Refused, Fault::CertificateRequired]);
        assert_eq!(*found.foremost().unwrap().fault(), Fault::CertificateRequired);
        assert!(found.is_configured() && !found.is_unreachable());
        assert!(failures(&[Fault::Refused]).is_unreachable());
        assert!(failures(&[Fault::Refused, Fault::InMaintenance]).is_in_maintenance());
        assert!(failures(&[Fault::Foreign]).is_foreign() && !failures(&[Fault::Refused]).is_foreign());
    }
}
