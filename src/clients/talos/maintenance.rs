//! A machine that nobody configured yet.

use std::time::Duration;

use talos_api::resource::runtime::MachineStatusSpec;

use super::deadline::DIAL;
use super::dial::{self, Failures};
use super::error::{Error, Fault};
use super::fingerprint::Fingerprint;
use super::lifetime::Applied;
use super::observation::MachineStatus;
use super::resources::MACHINE_STATUSES;
use super::session::Session;
use super::tls;
use super::watch::{Watch, Watching};
use crate::domain::machine::Facts;
use crate::domain::machine_configuration::{ApplyMode, Secret};
use crate::domain::names::Address;

/// A connection to a machine in maintenance mode. Its certificate is not verified, since no authority has signed it;
/// the name in it is Talos' own for this mode, and a fingerprint can be demanded.
///
/// A configured machine, and anything that isn't a Talos machine, is refused when it is dialled.
#[derive(Debug)]
pub struct Maintenance {
    session: Session,
    address: Address,
    fingerprint: Fingerprint,
}

impl Maintenance {
    /// Dials one address within `budget`. With `expected`, only the machine with that fingerprint is talked to.
    ///
    /// # Errors
    ///
    /// [`Fault::CertificateRequired`] from a machine that is configured, [`Fault::WrongFingerprint`],
    /// [`Fault::NotTalos`], and those of the network.
    pub async fn dial(
        address: Address,
        expected: Option<Fingerprint>,
        budget: Duration,
    ) -> Result<Self, Error> {
        let target = address.with_port(dial::PORT);
        let refused = |fault| Error::new("dial", &target, fault);
        let configuration = tls::unverified(expected).map_err(refused)?;
        let (session, certificate) = dial::dial(&address, configuration, budget).await?;
        let name = tls::common_name(&certificate);
        if !tls::is_maintenance(&certificate) {
            return Err(refused(Fault::NotTalos(name)));
        }
        let unreadable = || refused(Fault::NotTalos(name.clone()));
        let fingerprint = Fingerprint::of(&certificate).ok_or_else(unreadable)?;
        Ok(Self { session, address, fingerprint })
    }

    /// Dials one candidate after the other, each with a budget of [`DIAL`]; the first to answer in maintenance mode
    /// wins.
    ///
    /// # Errors
    ///
    /// Why none did.
    pub async fn dial_in_order(
        candidates: &[Address],
        expected: Option<Fingerprint>,
    ) -> Result<Self, Failures> {
        dial::in_order(candidates, |address| Self::dial(address, expected, DIAL)).await
    }

    /// Dials all candidates together, each with the same budget; the first to answer in maintenance mode wins.
    ///
    /// # Errors
    ///
    /// Why none did.
    pub async fn dial_at_once(
        candidates: &[Address],
        expected: Option<Fingerprint>,
        budget: Duration,
    ) -> Result<Self, Failures> {
        dial::at_once(candidates, |address| Self::dial(address, expected, budget)).await
    }

    /// The candidate that answered.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The fingerprint of the certificate that the machine shows now; the console shows the same.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Everything that the machine says of itself.
    ///
    /// # Errors
    ///
    /// The first look that failed.
    pub async fn discover(&self) -> Result<Facts, Error> {
        self.session.facts(self.address.clone()).await
    }

    /// The version of the running Talos, for example `v1.13.9`.
    ///
    /// # Errors
    ///
    /// Those of a call, and [`Fault::Malformed`] from Talos before 1.10, which doesn't say.
    pub async fn version(&self) -> Result<String, Error> {
        self.session.version().await
    }

    /// The machine's own summary.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn status(&self) -> Result<MachineStatus, Error> {
        self.session.machine_status().await
    }

    /// Lets the machine judge a configuration without taking it.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` (up to Talos 1.12 also `Unknown`) with the machine's reason, and those of a call.
    pub async fn dry_run(&self, configuration: &Secret) -> Result<Applied, Error> {
        self.session.apply(configuration, ApplyMode::Auto, true).await
    }

    /// Configures the machine: it installs itself and comes back with mutual TLS. The connection ends with it, since
    /// an open one delays the machine.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` with the machine's reason is final. After any other the machine may have taken it.
    pub async fn apply_configuration(self, configuration: &Secret) -> Result<Applied, Error> {
        self.session.apply(configuration, ApplyMode::Auto, false).await
    }

    /// The last failure that the machine's events and kernel log tell of, to quote after an installation that didn't
    /// succeed; `None` without one, or from Talos before 1.13, which doesn't show it in this mode.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn last_failure(&self) -> Result<Option<String>, Error> {
        self.session.last_failure().await
    }

    /// Watches the machine's summary. Drop it before a configuration is applied.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn watch_status(&self) -> Result<Watch<MachineStatus>, Error> {
        self.session.watch::<MachineStatusSpec, _>(&MACHINE_STATUSES, "machine").await
    }

    /// Calls `wake` whenever the machine's summary changes, and when it can't be watched any more.
    pub fn wake_on_change(&self, wake: impl Fn() + Send + Sync + 'static) -> Watching {
        self.session.wake_on_change(&MACHINE_STATUSES, "machine", wake)
    }
}
