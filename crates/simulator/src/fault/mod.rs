//! What goes wrong on purpose.
//!
//! Faults stand in the world file, or are set on a running simulator by `kontinuum-simulator fault`. A fault that
//! counts calls is used up by them; the others hold until they happened, or are cleared.

mod code;

use std::net::IpAddr;
use std::sync::Mutex;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

pub use code::{InvalidCode, StatusCode};

use crate::locked;
use crate::world::TalosVersion;

/// One fault of one machine.
///
/// `method` is a method's name (`Bootstrap`), its full name (`machine.MachineService/Bootstrap`), or `*` for every
/// method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Subcommand)]
#[serde(tag = "fault", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// The next calls of a method are carried out, but their reply is lost: the connection breaks instead.
    DropReply {
        /// Which method.
        #[arg(long)]
        method: String,
        /// How many calls.
        #[arg(long, default_value_t = 1)]
        #[serde(default = "once")]
        calls: u32,
    },
    /// The next calls of a method are answered with a status and not carried out.
    Answer {
        /// Which method.
        #[arg(long)]
        method: String,
        /// Status code by its name, e.g. `Unavailable`.
        #[arg(long)]
        code: StatusCode,
        /// The status' text.
        #[arg(long, default_value = "")]
        #[serde(default)]
        message: String,
        /// How many calls.
        #[arg(long, default_value_t = 1)]
        #[serde(default = "once")]
        calls: u32,
    },
    /// The next calls of a method get no answer at all while the connection stands; they are not carried out.
    Hang {
        /// Which method.
        #[arg(long)]
        method: String,
        /// How many calls.
        #[arg(long, default_value_t = 1)]
        #[serde(default = "once")]
        calls: u32,
    },
    /// Connections are accepted and then never hear a word, not even of TLS.
    Silent {},
    /// The next time the machine goes down it stays down, until it is powered on.
    StayDown {},
    /// After its next reboot the machine listens at another address.
    ComeBackAt {
        /// The new address.
        #[arg(long)]
        address: IpAddr,
    },
    /// The next installations fail: the machine comes back in maintenance mode with the error in its log.
    FailInstall {
        /// The installer's error.
        #[arg(long, default_value = "failed to partition the disk: input/output error")]
        #[serde(default = "installer_error")]
        error: String,
        /// How many installations.
        #[arg(long, default_value_t = 1)]
        #[serde(default = "once")]
        times: u32,
    },
    /// The next bootstrap request is answered with OK, but the machine reboots before etcd has started.
    LoseBootstrap {},
    /// The machine's clock is off by so much; negative: behind.
    SkewClock {
        /// Difference to the true time, e.g. `-48h`.
        #[arg(long, allow_hyphen_values = true)]
        by: SignedDuration,
    },
    /// The machine's time never gets in sync: bootstrap is refused, the stage stays booting.
    TimeNotInSync {},
    /// The next installation puts another Talos version on the disk than the configuration asks for.
    InstallVersion {
        /// That version.
        #[arg(long)]
        version: TalosVersion,
    },
    /// The disk holds etcd data of an earlier cluster.
    ForeignEtcdData {},
    /// The next configuration reaches the machine with another byte in one of its values.
    AlterConfiguration {
        /// The value in the main document, e.g. `machine.certSANs[0]`.
        #[arg(long)]
        path: String,
        /// Which byte of the value; its middle if not given.
        #[arg(long)]
        #[serde(default)]
        index: Option<usize>,
    },
}

/// The faults that a machine has now.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    faults: Mutex<Vec<Fault>>,
    changed: watch::Sender<u64>,
}

/// What a fault does to one call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallFault {
    DropReply,
    Answer(StatusCode, String),
    Hang,
}

impl CallFault {
    /// The name of the fault that does it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::DropReply => "drop-reply",
            Self::Answer(..) => "answer",
            Self::Hang => "hang",
        }
    }
}

impl Faults {
    /// Faults to begin with.
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        Self { faults: Mutex::new(faults), changed: watch::Sender::new(0) }
    }

    /// Adds a fault. One of which there can only be one (a skewed clock) replaces its predecessor.
    pub(crate) fn add(&self, fault: Fault) {
        let mut faults = locked(&self.faults);
        if matches!(fault, Fault::SkewClock { .. } | Fault::ComeBackAt { .. } | Fault::InstallVersion { .. })
        {
            faults.retain(|held| std::mem::discriminant(held) != std::mem::discriminant(&fault));
        }
        faults.push(fault);
        drop(faults);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Removes all faults.
    pub(crate) fn clear(&self) {
        locked(&self.faults).clear();
        self.changed.send_modify(|count| *count += 1);
    }

    /// Wakes whoever waits for faults to be added or cleared.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The faults that are left.
    pub(crate) fn list(&self) -> Vec<Fault> {
        locked(&self.faults).clone()
    }

    /// What happens to this call of a method (`package.Service/Method`); uses up one call of the fault.
    pub(crate) fn on_call(&self, method: &str) -> Option<CallFault> {
        let mut faults = locked(&self.faults);
        let (index, happens) = faults.iter_mut().enumerate().find_map(|(index, fault)| {
            let (pattern, calls, happens) = call_fault(fault)?;
            if *calls == 0 || !matches(pattern, method) {
                return None;
            }
            *calls -= 1;
            Some(((*calls == 0).then_some(index), happens))
        })?;
        if let Some(index) = index {
            faults.remove(index);
        }
        Some(happens)
    }

    /// Whether connections stay unanswered.
    pub(crate) fn is_silent(&self) -> bool {
        locked(&self.faults).contains(&Fault::Silent {})
    }

    /// Whether time gets in sync.
    pub(crate) fn time_in_sync(&self) -> bool {
        !locked(&self.faults).contains(&Fault::TimeNotInSync {})
    }

    /// How far the clock is off.
    pub(crate) fn clock_skew(&self) -> SignedDuration {
        let skew = |fault: &Fault| if let Fault::SkewClock { by } = fault { Some(*by) } else { None };
        locked(&self.faults).iter().find_map(skew).unwrap_or(SignedDuration::ZERO)
    }

    /// Whether the machine stays down this time.
    pub(crate) fn take_stay_down(&self) -> bool {
        self.take(|fault| (*fault == Fault::StayDown {}).then_some(())).is_some()
    }

    /// Whether this bootstrap request gets lost.
    pub(crate) fn take_lose_bootstrap(&self) -> bool {
        self.take(|fault| (*fault == Fault::LoseBootstrap {}).then_some(())).is_some()
    }

    /// Whether data of an earlier cluster is to be put on the disk.
    pub(crate) fn take_foreign_etcd_data(&self) -> bool {
        self.take(|fault| (*fault == Fault::ForeignEtcdData {}).then_some(())).is_some()
    }

    /// The values, and the byte in each, that the next configuration has wrong.
    pub(crate) fn take_altered_values(&self) -> Vec<(String, Option<usize>)> {
        let altered = |fault: &Fault| {
            let Fault::AlterConfiguration { path, index } = fault else { return None };
            Some((path.clone(), *index))
        };
        std::iter::from_fn(|| self.take(altered)).collect()
    }

    /// The address at which the machine comes back, if another one.
    pub(crate) fn take_new_address(&self) -> Option<IpAddr> {
        self.take(|fault| if let Fault::ComeBackAt { address } = fault { Some(*address) } else { None })
    }

    /// The version that the installation puts on the disk, if another one.
    pub(crate) fn take_installed_version(&self) -> Option<TalosVersion> {
        self.take(|fault| if let Fault::InstallVersion { version } = fault { Some(*version) } else { None })
    }

    /// The error with which this installation fails, if it does.
    pub(crate) fn take_failed_installation(&self) -> Option<String> {
        let mut faults = locked(&self.faults);
        let index = faults.iter().position(|fault| matches!(fault, Fault::FailInstall { .. }))?;
        let Fault::FailInstall { error, times } = faults.get_mut(index)? else { return None };
        let error = error.clone();
        *times = times.saturating_sub(1);
        if *times == 0 {
            faults.remove(index);
        }
        Some(error)
    }

    /// Removes the first fault for which `wanted` has an answer, and gives that answer.
    fn take<T>(&self, wanted: impl Fn(&Fault) -> Option<T>) -> Option<T> {
        let mut faults = locked(&self.faults);
        let (index, answer) =
            faults.iter().enumerate().find_map(|(index, fault)| Some((index, wanted(fault)?)))?;
        faults.remove(index);
        Some(answer)
    }
}

/// The method pattern, the calls left, and the effect of a fault that concerns calls.
fn call_fault(fault: &mut Fault) -> Option<(&str, &mut u32, CallFault)> {
    match fault {
        Fault::DropReply { method, calls } => Some((method, calls, CallFault::DropReply)),
        Fault::Answer { method, code, message, calls } => {
            Some((method, calls, CallFault::Answer(*code, message.clone())))
        }
        Fault::Hang { method, calls } => Some((method, calls, CallFault::Hang)),
        Fault::Silent {}
        | Fault::StayDown {}
        | Fault::ComeBackAt { .. }
        | Fault::FailInstall { .. }
        | Fault::LoseBootstrap {}
        | Fault::SkewClock { .. }
        | Fault::TimeNotInSync {}
        | Fault::InstallVersion { .. }
        | Fault::ForeignEtcdData {}
        | Fault::AlterConfiguration { .. } => None,
    }
}

/// Whether a pattern names the method `package.Service/Method`.
fn matches(pattern: &str, method: &str) -> bool {
    pattern == "*" || pattern == method || method.rsplit_once('/').is_some_and(|(_, name)| name == pattern)
}

const fn once() -> u32 {
    1
}

fn installer_error() -> String {
    "failed to partition the disk: input/output error".to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_counted_fault_is_used_up_by_the_calls_it_names() {
        let faults = Faults::new(vec![Fault::DropReply { method: "Bootstrap".to_owned(), calls: 2 }]);
        assert_eq!(faults.on_call("machine.MachineService/Version"), None);
        assert_eq!(faults.on_call("machine.MachineService/Bootstrap"), Some(CallFault::DropReply));
        assert_eq!(faults.list().len(), 1);
        assert_eq!(faults.on_call("machine.MachineService/Bootstrap"), Some(CallFault::DropReply));
        assert_eq!(faults.on_call("machine.MachineService/Bootstrap"), None);
        assert!(faults.list().is_empty());
    }

    #[test]
    fn a_world_file_writes_faults_by_name() {
        let text = "[{fault: answer, method: Version, code: Unavailable, calls: 3}, {fault: skew-clock, by: '-48h'}, {fault: silent}]";
        let faults: Vec<Fault> = serde_saphyr::from_str(text).unwrap();
        assert_eq!(faults[1], Fault::SkewClock { by: SignedDuration::from_hours(-48) });
        assert_eq!(faults[2], Fault::Silent {});
        let unknown = serde_saphyr::from_str::<Vec<Fault>>("[{fault: silent, calls: 3}]");
        assert!(unknown.is_err());
    }

    #[test]
    fn the_clock_is_off_by_the_last_skew_only() {
        let faults = Faults::default();
        faults.add(Fault::SkewClock { by: SignedDuration::from_hours(1) });
        faults.add(Fault::SkewClock { by: SignedDuration::from_hours(-2) });
        assert_eq!(faults.clock_skew(), SignedDuration::from_hours(-2));
        faults.clear();
        assert_eq!(faults.clock_skew(), SignedDuration::ZERO);
    }
}
