//! TLS of a machine: its certificates, and who is let in.
//!
//! In maintenance mode the certificate comes from an authority that lives as long as the boot, and nobody is asked
//! for a certificate. Later it is signed by the authority of the machine's configuration, and clients must have one
//! from there. Talos 1.13 speaks TLS 1.3 only, 1.12 also 1.2.

mod authority;
mod caller;
mod verifier;

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::NoServerSessionStorage;
use rustls::time_provider::TimeProvider;
use rustls::{ServerConfig, SupportedProtocolVersion};

pub(crate) use authority::{Authority, AuthorityError};
pub(crate) use caller::Caller;
use verifier::TalosClientVerifier;

use crate::fault::Faults;
use crate::locked;

/// The common name of every certificate of maintenance mode, by which clients can tell it apart.
pub(crate) const MAINTENANCE_COMMON_NAME: &str = "maintenance-service.talos.dev";

/// A machine's clock: the true time, off by the machine's skew.
#[derive(Clone, Debug)]
pub(crate) struct Clock(pub(crate) Arc<Faults>);

impl Clock {
    /// The time as the machine believes it to be.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::now().saturating_add(self.0.clock_skew()).unwrap_or(Timestamp::MAX)
    }
}

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.now().as_second()).ok()?;
        Some(UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds)))
    }
}

/// What the server's certificate says of the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Subject's common name.
    pub(crate) common_name: String,
    /// Host names.
    pub(crate) dns: Vec<String>,
    /// Addresses.
    pub(crate) addresses: Vec<IpAddr>,
}

/// What a listener shows its clients. Its certificate is issued anew when the machine's clock was set, as Talos does.
#[derive(Clone, Debug)]
pub(crate) struct Acceptance(Arc<Issuing>);

#[derive(Debug)]
struct Issuing {
    clock: Clock,
    authority: Arc<Authority>,
    names: Names,
    versions: Versions,
    /// Of the clients' certificates; none in maintenance mode.
    roots: Option<Vec<CertificateDer<'static>>>,
    issued: Mutex<Issued>,
}

/// The two configurations of a listener: for clients that negotiate h2 by ALPN, and for those that don't.
#[derive(Clone, Debug)]
struct Issued {
    /// How far the clock was off.
    skew: SignedDuration,
    with_alpn: Arc<ServerConfig>,
    without_alpn: Arc<ServerConfig>,
}

impl Acceptance {
    /// Maintenance mode: a fresh authority, no client certificates.
    pub(crate) fn maintenance(
        clock: &Clock,
        names: Names,
        versions: Versions,
    ) -> Result<Self, AuthorityError> {
        let authority = Authority::throw_away(clock.now())?;
        Self::new(clock, Arc::new(authority), names, versions, None)
    }

    /// Mutual TLS: certificate from this authority, clients from this or one of the accepted authorities (PEM).
    pub(crate) fn mutual(
        clock: &Clock,
        authority: Arc<Authority>,
        accepted: &[String],
        names: Names,
        versions: Versions,
    ) -> Result<Self, AuthorityError> {
        let mut roots = vec![authority.certificate().clone()];
        for pem in accepted {
            roots.extend(authority::certificates(pem)?);
        }
        Self::new(clock, authority, names, versions, Some(roots))
    }

    /// The configuration for a client that offers these protocols.
    ///
    /// Talos' server answers h2, lets clients pass that offer nothing or only HTTP/1.1, and refuses all else.
    pub(crate) fn for_protocols<'a>(
        &self,
        offered: Option<impl Iterator<Item = &'a [u8]>>,
    ) -> Arc<ServerConfig> {
        let tolerated = match offered {
            None => true,
            Some(mut offered) => offered.all(|protocol| protocol == b"http/1.1"),
        };
        let issued = self.0.issued();
        if tolerated { issued.without_alpn } else { issued.with_alpn }
    }

    fn new(
        clock: &Clock,
        authority: Arc<Authority>,
        names: Names,
        versions: Versions,
        roots: Option<Vec<CertificateDer<'static>>>,
    ) -> Result<Self, AuthorityError> {
        let issued = Issued::issue(clock, &authority, &names, versions, roots.clone())?;
        let (clock, issued) = (clock.clone(), Mutex::new(issued));
        Ok(Self(Arc::new(Issuing { clock, authority, names, versions, roots, issued })))
    }
}

impl Issuing {
    fn issued(&self) -> Issued {
        let mut issued = locked(&self.issued);
        if issued.skew != self.clock.0.clock_skew() {
            let (authority, roots) = (&self.authority, self.roots.clone());
            match Issued::issue(&self.clock, authority, &self.names, self.versions, roots) {
                Ok(anew) => *issued = anew,
                Err(error) => tracing::warn!(%error, "failed to issue the certificate anew"),
            }
        }
        issued.clone()
    }
}

impl Issued {
    fn issue(
        clock: &Clock,
        authority: &Authority,
        names: &Names,
        versions: Versions,
        clients: Option<Vec<CertificateDer<'static>>>,
    ) -> Result<Self, AuthorityError> {
        let skew = clock.0.clock_skew();
        let (certificate, key) = authority.issue_server(names.clone(), clock.now())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_details(Arc::clone(&provider), Arc::new(clock.clone()))
            .with_protocol_versions(versions.supported())?;
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(roots) => {
                builder.with_client_cert_verifier(Arc::new(TalosClientVerifier::new(roots, provider)?))
            }
        };
        let mut config = builder.with_single_cert(vec![certificate], key)?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        let without_alpn = Arc::new(config.clone());
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { skew, with_alpn: Arc::new(config), without_alpn })
    }
}

/// Which versions of TLS a server speaks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Versions {
    /// Talos 1.13.
    Only13,
    /// Talos 1.12 and older.
    Both12And13,
}

impl Versions {
    const fn supported(self) -> &'static [&'static SupportedProtocolVersion] {
        const ONLY_1_3: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13];
        const BOTH: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];
        match self {
            Self::Only13 => ONLY_1_3,
            Self::Both12And13 => BOTH,
        }
    }
}
