//! A machine of a cluster whose administrator we are.

use std::time::Duration;

use jiff::Timestamp;
use talos_api::resource::runtime::MachineStatusSpec;

use super::deadline::DIAL;
use super::dial::{self, Failures};
use super::error::Error;
use super::etcd::{Bootstrapped, EtcdMember, EtcdStatus};
use super::health::{Health, HealthCheck};
use super::lifetime::Applied;
use super::observation::{MachineStatus, Service};
use super::resources::MACHINE_STATUSES;
use super::session::Session;
use super::tls::Credentials;
use super::watch::{Watch, Watching};
use crate::domain::machine::Facts;
use crate::domain::machine_configuration::{ApplyMode, Secret};
use crate::domain::names::Address;

/// A connection with mutual TLS to one machine of a cluster.
///
/// Dialling already tells what the machine is: [`Fault::InMaintenance`](super::Fault::InMaintenance) if it isn't
/// configured, [`Fault::Foreign`](super::Fault::Foreign) if another cluster's authority signed for it, one of the
/// clock's faults if only the time is wrong.
///
/// Every method fails with the faults of a call ([`Error`]); further ones are named.
#[derive(Debug, Clone)]
pub struct Admin {
    session: Session,
    address: Address,
}

impl Admin {
    /// Dials one address within `budget`.
    ///
    /// # Errors
    ///
    /// What the machine is instead, or why it can't be reached.
    pub async fn dial(address: Address, credentials: &Credentials, budget: Duration) -> Result<Self, Error> {
        let (session, _) = dial::dial(&address, credentials.configuration(), budget).await?;
        Ok(Self { session, address })
    }

    /// Dials one candidate after the other, each with a budget of [`DIAL`]; the first to answer as a machine of this
    /// cluster wins.
    ///
    /// # Errors
    ///
    /// Why none did.
    pub async fn dial_in_order(candidates: &[Address], credentials: &Credentials) -> Result<Self, Failures> {
        dial::in_order(candidates, |address| Self::dial(address, credentials, DIAL)).await
    }

    /// Dials all candidates together, each with the same budget; the first to answer as a machine of this cluster
    /// wins.
    ///
    /// # Errors
    ///
    /// Why none did.
    pub async fn dial_at_once(
        candidates: &[Address],
        credentials: &Credentials,
        budget: Duration,
    ) -> Result<Self, Failures> {
        dial::at_once(candidates, |address| Self::dial(address, credentials, budget)).await
    }

    /// The candidate that answered.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The version of the running Talos, for example `v1.13.9`.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn version(&self) -> Result<String, Error> {
        self.session.version().await
    }

    /// Everything that the machine says of itself, as in maintenance mode.
    ///
    /// # Errors
    ///
    /// The first look that failed.
    pub async fn discover(&self) -> Result<Facts, Error> {
        self.session.facts(self.address.clone()).await
    }

    /// The machine's own summary.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn status(&self) -> Result<MachineStatus, Error> {
        self.session.machine_status().await
    }

    /// All services.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn services(&self) -> Result<Vec<Service>, Error> {
        self.session.services().await
    }

    /// The last lines of a service's log.
    ///
    /// # Errors
    ///
    /// Those of a call; `Unknown` for a service that never ran.
    pub async fn service_log(&self, service: &str, lines: u16) -> Result<String, Error> {
        self.session.service_log(service, lines).await
    }

    /// The last failure that the machine's events and kernel log tell of.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn last_failure(&self) -> Result<Option<String>, Error> {
        self.session.last_failure().await
    }

    /// Whether the machine's clock follows a time server, or isn't meant to; `None` while it hasn't looked.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn time_in_sync(&self) -> Result<Option<bool>, Error> {
        self.session.time_in_sync().await
    }

    /// The machine's clock. The machine asks its time server for this, and fails if that doesn't answer.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn clock(&self) -> Result<Timestamp, Error> {
        self.session.clock().await
    }

    /// When the machine last started, in seconds since 1970.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn boot_time(&self) -> Result<u64, Error> {
        self.session.boot_time().await
    }

    /// The configuration that the machine runs with, all documents; `None` if it has none.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn machine_configuration(&self) -> Result<Option<Secret>, Error> {
        self.session.machine_configuration("v1alpha1").await
    }

    /// The configuration on the machine's disk: another one than it runs while a change is staged, or tried.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn stored_configuration(&self) -> Result<Option<Secret>, Error> {
        self.session.machine_configuration("persistent").await
    }

    /// Replaces the machine's configuration. In mode `auto` it decides itself whether it must restart for it.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` with the machine's reason is final. After any other the machine may have taken it.
    pub async fn apply_configuration(
        &self,
        configuration: &Secret,
        mode: ApplyMode,
    ) -> Result<Applied, Error> {
        self.session.apply(configuration, mode, false).await
    }

    /// Lets the machine judge a configuration without taking it.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` with the machine's reason.
    pub async fn dry_run(&self, configuration: &Secret) -> Result<Applied, Error> {
        self.session.apply(configuration, ApplyMode::Auto, true).await
    }

    /// Starts etcd as a cluster of one. Once in a cluster's life, and only on one machine: the machine looks at
    /// nothing but its own disk.
    ///
    /// # Errors
    ///
    /// `FailedPrecondition` while the machine isn't that far; `Unimplemented` from a worker.
    pub async fn bootstrap(&self) -> Result<Bootstrapped, Error> {
        self.session.bootstrap().await
    }

    /// Whether etcd's data folder holds anything. `false` only if the folder was looked into or isn't there.
    ///
    /// # Errors
    ///
    /// Those of a call; while the disk isn't set up the machine can't look, which is an error too.
    pub async fn has_etcd_data(&self) -> Result<bool, Error> {
        self.session.has_etcd_data().await
    }

    /// The members that etcd lists.
    ///
    /// # Errors
    ///
    /// Those of a call; `Unknown` or `Unavailable` before the bootstrap, `Unimplemented` from a worker.
    pub async fn etcd_members(&self) -> Result<Vec<EtcdMember>, Error> {
        self.session.etcd_members().await
    }

    /// This machine's own member.
    ///
    /// # Errors
    ///
    /// As [`Admin::etcd_members`].
    pub async fn etcd_status(&self) -> Result<EtcdStatus, Error> {
        self.session.etcd_status().await
    }

    /// Removes a member that is gone for good. `false` if there was none with this id.
    ///
    /// # Errors
    ///
    /// As [`Admin::etcd_members`].
    pub async fn etcd_remove_member(&self, member_id: u64) -> Result<bool, Error> {
        self.session.etcd_remove_member(member_id).await
    }

    /// Hands leadership over; the new leader's name, `None` if this member didn't lead.
    ///
    /// # Errors
    ///
    /// As [`Admin::etcd_members`].
    pub async fn etcd_forfeit_leadership(&self) -> Result<Option<String>, Error> {
        self.session.etcd_forfeit_leadership().await
    }

    /// Takes this machine's member out of etcd.
    ///
    /// # Errors
    ///
    /// As [`Admin::etcd_members`]; the only member can't leave.
    pub async fn etcd_leave_cluster(&self) -> Result<(), Error> {
        self.session.etcd_leave_cluster().await
    }

    /// The kubeconfig that the machine hands out, with a certificate made for this call.
    ///
    /// # Errors
    ///
    /// `Unimplemented` from a worker.
    pub async fn kubeconfig(&self) -> Result<Secret, Error> {
        self.session.kubeconfig().await
    }

    /// Talos' check of the whole cluster. Ask a control-plane machine; without a network plugin only Talos 1.13 or
    /// newer can pass it.
    ///
    /// # Errors
    ///
    /// `Unimplemented` from a worker. Checks that don't pass are no error but [`Health::Unhealthy`].
    pub async fn health_check(&self, check: HealthCheck) -> Result<Health, Error> {
        self.session.health_check(check).await
    }

    /// Restarts the machine.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn reboot(&self) -> Result<(), Error> {
        self.session.reboot().await
    }

    /// Turns the machine off.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn shut_down(&self) -> Result<(), Error> {
        self.session.shut_down().await
    }

    /// Wipes configuration and data and restarts into maintenance mode, with Talos still on the disk. The machine
    /// answers first and works then: look whether it comes back.
    ///
    /// `graceful` drains the node and leaves etcd first; if that fails the machine only restarts. The last member of
    /// etcd can't leave, and a cluster that goes as a whole has nobody to leave to.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn reset(&self, graceful: bool) -> Result<(), Error> {
        self.session.reset(graceful).await
    }

    /// Watches the machine's summary.
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
