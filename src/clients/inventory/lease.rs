//! Leases: one worker at a time on one thing, across processes and machines.

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::{Inventory, InventoryError, Stored};
use crate::domain::names::Uid;
use crate::domain::record::LeaseRecord;

/// How long a lease outlives its holder's last sign of life: a machine that hangs longer is taken for dead.
const LIFETIME: SignedDuration = SignedDuration::from_secs(45);

/// How often a holder shows that it lives; three may fail before the lease is lost.
const RENEWAL: Duration = Duration::from_secs(10);

/// Who holds a lease: a process on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    host: String,
    process: u32,
    /// Clock ticks since boot at which the process started, since process ids come again.
    started: String,
}

impl Holder {
    /// This process.
    #[must_use]
    pub fn this_process() -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let process = std::process::id();
        Self { host: host.trim().to_owned(), process, started: start_of(process).unwrap_or_default() }
    }

    fn parse(text: &str) -> Option<Self> {
        let (host, rest) = text.split_once(" process ")?;
        let (process, started) = rest.split_once(" started ")?;
        Some(Self { host: host.to_owned(), process: process.parse().ok()?, started: started.to_owned() })
    }

    /// Whether the holder is known to be dead: only a process of this host can be known so.
    fn is_dead(&self, here: &Self) -> bool {
        self.host == here.host && start_of(self.process).as_ref() != Some(&self.started)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} process {} started {}", self.host, self.process, self.started)
    }
}

/// When a living process started; `None` for one that has ended.
fn start_of(process: u32) -> Option<String> {
    started(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The 22nd field of `/proc/PID/stat`, counted behind the command's closing parenthesis, of a process that lives. A
/// zombie (Z) or a dead one (X) has ended: in a container, nobody may ever collect it.
fn started(stat: &str) -> Option<String> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") { None } else { fields.nth(18).map(str::to_owned) }
}

/// A held lease. It is renewed until it is released or dropped; a dropped one is free for others once it expires,
/// and at once when its process has ended.
#[derive(Debug)]
pub struct Lease {
    inventory: Inventory,
    uid: Uid,
    renewing: CancellationToken,
    lost: CancellationToken,
}

impl Lease {
    /// Takes the lease on `what`, a free one or a dead holder's.
    ///
    /// # Errors
    ///
    /// [`InventoryError::Held`] when somebody works on it; [`InventoryError`] when the inventory fails.
    pub async fn take(inventory: &Inventory, what: &str) -> Result<Self, InventoryError> {
        let here = Holder::this_process();
        loop {
            let now = Timestamp::now();
            let record = LeaseRecord { holder: here.to_string(), renewed: now, expires: after(now) };
            let taken = match inventory.find::<LeaseRecord>(what).await? {
                None => {
                    let uid = Uid::new(uuid::Uuid::new_v4().to_string());
                    inventory.create(what, &uid, record).await
                }
                Some(held) if is_free(&held.body, &here, now) => {
                    inventory.update(Stored { body: record, ..held }).await
                }
                Some(held) => {
                    return Err(InventoryError::Held {
                        what: what.to_owned(),
                        holder: held.body.holder,
                        renewed: held.body.renewed,
                    });
                }
            };
            match taken {
                Ok(stored) => return Ok(Self::renewed(inventory.clone(), stored, here)),
                // Somebody took it in between: look again who.
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the lease on `what`, waiting for its holder for at most `limit`.
    ///
    /// # Errors
    ///
    /// As [`Self::take`], once `limit` is over.
    pub async fn wait(inventory: &Inventory, what: &str, limit: Duration) -> Result<Self, InventoryError> {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            let since = inventory.revision().await?;
            match Self::take(inventory, what).await {
                Err(held @ InventoryError::Held { .. }) => {
                    // A holder that dies changes nothing in the inventory: look again when its lease may have ended.
                    let next = deadline.min(tokio::time::Instant::now() + RENEWAL);
                    match tokio::time::timeout_at(next, inventory.changed(since)).await {
                        Ok(changed) => drop(changed?),
                        Err(_) if tokio::time::Instant::now() >= deadline => return Err(held),
                        Err(_) => {}
                    }
                }
                done => return done,
            }
        }
    }

    /// Cancelled when the lease was lost to somebody else: stop before the next act.
    #[must_use]
    pub fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Gives the lease back.
    ///
    /// # Errors
    ///
    /// [`InventoryError`] when the inventory fails; the lease then ends by itself.
    pub async fn release(self) -> Result<(), InventoryError> {
        self.renewing.cancel();
        let here = Holder::this_process().to_string();
        while let Some(held) = self.inventory.find_by_uid::<LeaseRecord>(&self.uid).await? {
            if held.body.holder != here {
                break;
            }
            match self.inventory.delete(&held, None).await {
                Err(error) if error.is_conflict() => {}
                done => return done,
            }
        }
        Ok(())
    }

    fn renewed(inventory: Inventory, stored: Stored<LeaseRecord>, here: Holder) -> Self {
        let (renewing, lost) = (CancellationToken::new(), CancellationToken::new());
        let lease = Self {
            inventory: inventory.clone(),
            uid: stored.uid.clone(),
            renewing: renewing.clone(),
            lost: lost.clone(),
        };
        tokio::spawn(async move {
            let renewals = renew(&inventory, &stored.uid, &here);
            let still_ours = tokio::select! { () = renewing.cancelled() => true, () = renewals => false };
            if !still_ours {
                lost.cancel();
            }
        });
        lease
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.cancel();
    }
}

fn after(now: Timestamp) -> Timestamp {
    now.checked_add(LIFETIME).unwrap_or(Timestamp::MAX)
}

fn is_free(held: &LeaseRecord, here: &Holder, now: Timestamp) -> bool {
    held.expires <= now || Holder::parse(&held.holder).is_some_and(|holder| holder.is_dead(here))
}

/// Renews until the lease is somebody else's or has run out unrenewed.
async fn renew(inventory: &Inventory, uid: &Uid, here: &Holder) {
    let mut ticks = tokio::time::interval(RENEWAL);
    ticks.tick().await;
    let mut until = after(Timestamp::now());
    let ours = here.to_string();
    loop {
        ticks.tick().await;
        let now = Timestamp::now();
        let renewed = inventory
            .change::<LeaseRecord>(uid, |record| {
                if record.holder == ours {
                    (record.renewed, record.expires) = (now, after(now));
                }
            })
            .await;
        match renewed {
            Ok(Some(stored)) if stored.body.holder == ours => until = stored.body.expires,
            Ok(_) => return,
            Err(error) if Timestamp::now() < until => {
                tracing::warn!(%error, "Failed to renew a lease; it is tried again");
            }
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_nobody_collected_has_ended() {
        let stat = |state: &str| {
            format!("42 (a (b) c) {state} 1 42 42 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 98765 1 1 1")
        };
        assert_eq!(started(&stat("S")).as_deref(), Some("98765"));
        assert_eq!(started(&stat("Z")), None);
        assert_eq!(started(&stat("X")), None);
    }

    #[test]
    fn only_a_process_of_this_host_is_known_to_be_dead() {
        let here = Holder::this_process();
        assert_eq!(Holder::parse(&here.to_string()), Some(here.clone()));
        let elsewhere = Holder { host: "elsewhere".into(), ..here.clone() };
        let predecessor = Holder { started: "1".into(), ..here.clone() };
        assert!(!here.is_dead(&here) && !elsewhere.is_dead(&here) && predecessor.is_dead(&here));
    }
}
