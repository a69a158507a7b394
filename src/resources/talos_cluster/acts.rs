//! Carrying out actions. Whoever comes here has no choices left; each act is preceded by its record.

use tokio::time::Instant;

use super::super::report::chain;
use super::configuration::{Configuration, configuration};
use super::members::Machine;
use super::world::{Applied, ClusterWorld};
use crate::clients::talos::{self, Fingerprint, Maintenance};
use crate::converge::ActError;
use crate::domain::cluster::serving_certificates::RequestId;
use crate::domain::cluster::spec::Role;
use crate::domain::machine_configuration::{ApplyMode, Contract, MachineConfiguration};
use crate::domain::names::Uid;
use crate::domain::record::{InstanceRecord, MemberRecord, Work};

fn failed(text: impl Into<String>, is_final: bool) -> ActError {
    ActError { text: text.into(), remedy: String::new(), is_final }
}

fn refused(error: &talos::Error) -> ActError {
    ActError {
        text: chain(error),
        remedy: if error.is_transient() {
            String::new()
        } else {
            "The machine refuses its configuration for good: correct `config_patches` or the machine, then apply again."
                .to_owned()
        },
        is_final: !error.is_transient(),
    }
}

impl ClusterWorld<'_> {
    /// The configuration that a machine should run.
    pub(super) fn configuration_of(&self, machine: &Machine) -> Result<Configuration, ActError> {
        let contract = self
            .record
            .body
            .contract
            .as_deref()
            .and_then(|contract| Contract::of_version(contract).ok())
            .ok_or_else(|| failed("read the cluster's contract from its record", true))?;
        configuration(self.parsed, machine, &self.endpoint, contract, &self.access.bundle)
            .map_err(|text| failed(text, true))
    }

    fn known(&self, uid: &Uid) -> Result<Machine, ActError> {
        self.machine(uid).cloned().ok_or_else(|| failed("find the machine in the inventory", false))
    }

    /// Sends a machine in maintenance mode its configuration, after a look that it is the one that was discovered.
    pub(super) async fn configure(&mut self, uid: &Uid) -> Result<(), ActError> {
        let machine = self.known(uid)?;
        let configuration = self.configuration_of(&machine)?;
        let returned = matches!(machine.record.work, Work::Configured { .. });
        let pinned = machine.record.certificate_fingerprint.as_deref();
        let expected = pinned.filter(|_| !returned).and_then(|text| Fingerprint::parse(text).ok());
        let connection =
            Maintenance::dial_in_order(&machine.record.candidates(), expected).await.map_err(|failures| {
                failed(format!("dial machine {:?}: {failures}", machine.member.name.as_str()), false)
            })?;
        let facts = connection.discover().await.map_err(|error| refused(&error))?;
        let known = machine.record.identity();
        if known != facts.identity() {
            return Err(failed(
                format!(
                    "configure machine {:?}: another machine answers at {}",
                    machine.member.name.as_str(),
                    facts.address
                ),
                false,
            ));
        }
        self.record_configuration(&machine, &configuration, true).await?;
        let applied = connection.apply_configuration(&configuration.text).await;
        match applied {
            Ok(_) => {
                self.applied.insert(uid.clone(), Applied { at: Instant::now(), left: false });
                if self.parsed.serving_certificates {
                    self.asks_for_certificate.insert(uid.clone(), None);
                }
                Ok(())
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// Sends a running machine its changed configuration.
    pub(super) async fn reconfigure(&mut self, uid: &Uid) -> Result<(), ActError> {
        let machine = self.known(uid)?;
        let configuration = self.configuration_of(&machine)?;
        let Some(connection) = self.connections.get(uid) else {
            return Err(failed(format!("reach machine {:?}", machine.member.name.as_str()), false));
        };
        let asks_anew = self.parsed.serving_certificates && {
            let runs = connection.admin.machine_configuration().await.ok().flatten();
            let runs = runs.and_then(|runs| MachineConfiguration::parse(runs.expose()).ok());
            runs.is_some_and(|runs| !runs.asks_for_serving_certificates())
        };
        connection
            .admin
            .apply_configuration(&configuration.text, self.parsed.apply_mode)
            .await
            .map_err(|error| refused(&error))?;
        // What is staged is not in use before the next boot.
        if asks_anew && self.parsed.apply_mode != ApplyMode::Staged {
            self.asks_for_certificate.insert(uid.clone(), Some(Instant::now()));
        }
        // Recorded after it was accepted: applying the same text twice changes nothing.
        self.record_configuration(&machine, &configuration, false).await?;
        self.drifted.insert(uid.clone(), false);
        self.applied.insert(uid.clone(), Applied { at: Instant::now(), left: true });
        Ok(())
    }

    async fn record_configuration(
        &mut self,
        machine: &Machine,
        configuration: &Configuration,
        install: bool,
    ) -> Result<(), ActError> {
        let cluster = self.record.uid.clone();
        let written = self
            .inventory()
            .change::<InstanceRecord>(&machine.member.uid, |record| {
                let before = match &record.work {
                    Work::Configured { installs, .. } => *installs,
                    Work::Untouched | Work::Fenced { .. } => 0,
                };
                let installs = before + u32::from(install);
                record.work = Work::Configured { cluster: cluster.clone(), installs };
            })
            .await
            .map_err(|error| failed(format!("write the machine's record: {}", chain(&error)), true))?;
        if written.is_none() {
            return Err(failed("find the machine's record", true));
        }
        let (uid, member) = (
            machine.member.uid.clone(),
            MemberRecord {
                name: machine.member.name.clone(),
                control_plane: machine.member.role == Role::ControlPlane,
                configuration: Some(configuration.digest.clone()),
                instance: Some(machine.record.configuration_digest()),
                // A first configuration is no change that could be stopped; what is only staged can't break the machine
                // before its next boot, which nobody waits for.
                proven: install || self.parsed.apply_mode == ApplyMode::Staged,
            },
        );
        self.remember(move |record| {
            record.members.insert(uid.clone(), member.clone());
        })
        .await
    }

    /// Approves requests that were judged a moment ago.
    pub(super) async fn approve_serving_certificates(&self, requests: &[RequestId]) -> Result<(), ActError> {
        let Some(kubernetes) = &self.kubernetes else { return Err(failed("reach an API server", false)) };
        for request in requests {
            let approved = kubernetes.client.approve_serving_request(request).await;
            approved.map_err(|error| failed(chain(&error), false))?;
        }
        Ok(())
    }

    /// Asks one machine, and no other ever, to bootstrap etcd.
    pub(super) async fn bootstrap_etcd(&mut self, uid: &Uid) -> Result<(), ActError> {
        let member = uid.clone();
        self.remember(move |record| record.etcd.bootstrap_sent = Some(member.clone())).await?;
        let Some(connection) = self.connections.get(uid) else {
            return Err(failed("reach the machine on which etcd is to be bootstrapped", false));
        };
        // That it has data already is what a lost reply looks like; whose data it is shows the member list.
        connection.admin.bootstrap().await.map(drop).map_err(|error| ActError {
            text: chain(&error),
            remedy: String::new(),
            is_final: false,
        })
    }
}
