//! ApplyConfiguration: what Talos' library says of the text, what the mode makes of it, and doing it.

use std::sync::Arc;

use talos_api::machine::apply_configuration_request::Mode;
use talos_api::machine::{ApplyConfiguration, ApplyConfigurationRequest, ApplyConfigurationResponse};
use tonic::{Code, Status};

use crate::configuration::{Apply, JudgeError};
use crate::machine::{Boot, Command, Configuration};
use crate::tls::Caller;
use crate::world::TalosVersion;

/// Applies a configuration, or says what applying it would do.
pub(super) async fn apply(
    boot: &Arc<Boot>,
    mut request: ApplyConfigurationRequest,
    caller: &Caller,
) -> Result<ApplyConfigurationResponse, Status> {
    let progress = "another apply configuration is already in progress";
    let _applying = boot.applying.try_lock().map_err(|_| Status::failed_precondition(progress))?;
    if boot.is_going_down() {
        return Err(Status::failed_precondition(
            "configuration was already applied and node is rebooting, cannot apply more configuration changes until next reboot",
        ));
    }
    let active = boot.configuration();
    // The gate lets readers pass in maintenance mode, which may be over while its listener still serves.
    if active.is_some() && !caller.has("os:admin") {
        return Err(Status::permission_denied("not authorized"));
    }
    let words = Words { version: boot.version, maintenance: active.is_none() };
    if request.data.is_empty() {
        return Err(words.malformed("config not found"));
    }
    let judge = &boot.machine.site.judge;
    if !request.dry_run {
        for (path, index) in boot.machine.faults.take_altered_values() {
            let altered = judge.alter(&request.data, &path, index).await;
            request.data = altered.map_err(|error| refused(error, Status::internal))?;
        }
    }
    let decoded =
        judge.decode(&request.data).await.map_err(|error| refused(error, |text| words.malformed(text)))?;
    if active.is_some() && !decoded.complete_for_boot {
        return Err(Status::invalid_argument(
            "the applied machine configuration doesn't contain v1alpha1 config, did you mean to patch the machine config instead?",
        ));
    }
    let installed = boot.installed().is_some();
    let validated = judge.validate(&request.data, installed).await;
    let warnings = validated.map_err(|error| refused(error, |text| words.invalid(text)))?.warnings;

    let change = match &active {
        None => Change::First { complete: decoded.complete_for_boot },
        Some(active) => {
            let difference = judge.difference(&active.text, &request.data).await;
            let difference = difference.map_err(|error| refused(error, |text| words.malformed(text)))?;
            Change::Next { apply: difference.apply, reason: difference.reason }
        }
    };
    let plan = plan(boot.version, &change, request.mode, request.dry_run)?;
    if request.dry_run {
        let difference = difference(boot, active.as_deref(), &request.data).await?;
        let details =
            format!("Dry run summary:\n{} (skipped in dry-run).\nConfig diff:\n\n{difference}", plan.summary);
        return Ok(reply(words.mode(plan.mode), details, Vec::new()));
    }
    let view = decoded.configuration.map(Arc::new);
    match (plan.act, view) {
        (Act::Nothing, _) | (_, None) => {}
        (act, Some(view)) => act_on(boot, act, Arc::new(Configuration { text: request.data, view }))?,
    }
    let details = if words.says_details() { plan.summary + &plan.reason } else { String::new() };
    Ok(reply(words.mode(plan.mode), details, warnings))
}

/// What is to be applied over what.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    /// In maintenance mode; incomplete: documents alone, without the main one.
    First { complete: bool },
    /// On a configured machine.
    Next { apply: Apply, reason: String },
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plan {
    /// The mode as answered.
    mode: i32,
    summary: String,
    /// Why it takes a reboot, after the summary.
    reason: String,
    act: Act,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Nothing,
    /// Leaves maintenance mode with it.
    Configure,
    /// Takes it over as it runs.
    Live,
    /// Puts it on the disk.
    Stage,
    /// Puts it on the disk and reboots.
    Reboot,
}

const WITH_REBOOT: &str = "Applied configuration with a reboot";
const WITHOUT_REBOOT: &str = "Applied configuration without a reboot";
const STAGED: &str = "Staged configuration to be applied after the next reboot";

/// Decides what a mode makes of a change. Pure.
fn plan(version: TalosVersion, change: &Change, mode: i32, dry_run: bool) -> Result<Plan, Status> {
    let known = Mode::try_from(mode).ok();
    let maintenance = matches!(change, Change::First { .. });
    let old_server = maintenance && !version.apid_in_maintenance();
    if old_server && let Some(refused @ (Mode::NoReboot | Mode::Staged)) = known {
        let name = refused.as_str_name().to_lowercase().replace('_', "-");
        let text = format!("apply configuration --mode='{name}' is not supported in maintenance mode");
        return Err(Status::unimplemented(text));
    }
    let without = |act| Plan {
        mode: Mode::NoReboot.into(),
        summary: WITHOUT_REBOOT.to_owned(),
        reason: String::new(),
        act,
    };
    let with = |reason: String| Plan {
        mode: Mode::Reboot.into(),
        summary: WITH_REBOOT.to_owned(),
        reason,
        act: Act::Reboot,
    };
    let live = match change {
        Change::First { complete } => Ok(if *complete { Act::Configure } else { Act::Nothing }),
        Change::Next { apply: Apply::Live, .. } => Ok(Act::Live),
        Change::Next { apply: Apply::Reboot, reason } => Err(reason.clone()),
    };
    match known {
        Some(Mode::Auto) => Ok(live.map_or_else(|reason| with(format!(": {reason}")), without)),
        Some(Mode::NoReboot) => live.map(without).map_err(Status::invalid_argument),
        Some(Mode::Reboot) if maintenance => live.map(without).map_err(Status::invalid_argument),
        Some(Mode::Reboot) => Ok(with(String::new())),
        Some(Mode::Staged) => Ok(Plan {
            mode,
            summary: STAGED.to_owned(),
            reason: String::new(),
            act: if maintenance { Act::Nothing } else { Act::Stage },
        }),
        Some(Mode::Try) if dry_run => {
            live.map(|act| Plan { mode, ..without(act) }).map_err(Status::invalid_argument)
        }
        Some(Mode::Try) if old_server => live.map(without).map_err(Status::invalid_argument),
        Some(Mode::Try) => {
            Err(super::not_simulated("mode TRY, whose rollback leaves a machine without its API"))
        }
        None if dry_run => Ok(Plan { mode, ..with(String::new()) }),
        None => Err(Status::unknown(format!("incorrect mode '{mode}' specified for the apply config call"))),
    }
}

/// Does what was decided, as far as the reply waits for it.
fn act_on(boot: &Arc<Boot>, act: Act, configuration: Arc<Configuration>) -> Result<(), Status> {
    let store = || {
        let stored = boot.machine.disk().store_configuration(&configuration.text);
        stored.map_err(|error| Status::unknown(error.to_string()))
    };
    match act {
        Act::Nothing => {}
        Act::Configure => {
            // What the machine runs with from now on.
            boot.take(&configuration);
            if boot.installed().is_none() {
                boot.promise_reboot();
            }
            boot.machine.command(Command::Configure(configuration));
        }
        Act::Live => {
            store()?;
            boot.machine.command(Command::Reconfigure(configuration));
        }
        Act::Stage => {
            store()?;
            boot.show_stored(&configuration);
        }
        Act::Reboot => {
            store()?;
            boot.show_stored(&configuration);
            boot.promise_reboot();
            boot.machine.command(Command::Reboot);
        }
    }
    Ok(())
}

/// The unified difference that a dry run shows; secrets and all, as Talos does.
async fn difference(boot: &Boot, active: Option<&Configuration>, new: &[u8]) -> Result<String, Status> {
    match active {
        None => {
            let text = String::from_utf8_lossy(new);
            let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
            Ok(format!("--- a\n+++ b\n@@ -0,0 +1,{} @@\n{added}", text.lines().count()))
        }
        Some(active) => {
            let difference = boot.machine.site.judge.difference(&active.text, new).await;
            let difference = difference.map_err(|error| refused(error, Status::invalid_argument))?;
            let unchanged = difference.unchanged || difference.text.is_empty();
            Ok(if unchanged { "No changes.".to_owned() } else { difference.text.expose().to_owned() })
        }
    }
}

fn reply(mode: i32, mode_details: String, warnings: Vec<String>) -> ApplyConfigurationResponse {
    ApplyConfigurationResponse {
        messages: vec![ApplyConfiguration { metadata: None, warnings, mode, mode_details }],
    }
}

/// Talos' refusal as the version says it; the lab's failure as what it is.
fn refused(error: JudgeError, say: impl FnOnce(String) -> Status) -> Status {
    match error {
        JudgeError::Refused(text) => say(text),
        JudgeError::Start { .. } | JudgeError::Conversation { .. } => {
            Status::internal(format!("the simulator failed to {error}"))
        }
    }
}

/// How a version words its answers.
#[derive(Clone, Copy)]
struct Words {
    version: TalosVersion,
    maintenance: bool,
}

impl Words {
    /// The small server of maintenance mode up to 1.12.
    const fn is_old(self) -> bool {
        self.maintenance && !self.version.apid_in_maintenance()
    }

    fn malformed(self, text: impl Into<String>) -> Status {
        let text = text.into();
        if self.is_old() {
            return Status::new(Code::Unknown, format!("failed to parse config: {text}"));
        }
        Status::invalid_argument(text)
    }

    fn invalid(self, text: String) -> Status {
        let old = self.is_old();
        Status::invalid_argument(if old { format!("configuration validation failed: {text}") } else { text })
    }

    /// The old server leaves the mode out.
    const fn mode(self, mode: i32) -> i32 {
        if self.is_old() { 0 } else { mode }
    }

    const fn says_details(self) -> bool {
        !self.is_old()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const FIRST: Change = Change::First { complete: true };

    fn next(apply: Apply) -> Change {
        Change::Next { apply, reason: "this config change can't be applied in immediate mode".to_owned() }
    }

    fn decide(version: TalosVersion, change: &Change, mode: Mode) -> Result<Plan, Status> {
        plan(version, change, mode.into(), false)
    }

    fn now() -> TalosVersion {
        TalosVersion::default()
    }

    fn old() -> TalosVersion {
        "v1.12.4".parse().unwrap()
    }

    #[test]
    fn a_first_configuration_is_applied_without_a_reboot_whatever_was_asked() {
        for mode in [Mode::Auto, Mode::NoReboot, Mode::Reboot] {
            let plan = decide(now(), &FIRST, mode).unwrap();
            assert_eq!((plan.mode, plan.act), (Mode::NoReboot.into(), Act::Configure), "{mode:?}");
        }
        let lone = decide(now(), &Change::First { complete: false }, Mode::Auto).unwrap();
        assert_eq!(lone.act, Act::Nothing);
    }

    #[test]
    fn maintenance_mode_up_to_1_12_refuses_what_it_cannot_do() {
        let refused = decide(old(), &FIRST, Mode::NoReboot).unwrap_err();
        assert_eq!(refused.code(), Code::Unimplemented);
        assert_eq!(
            refused.message(),
            "apply configuration --mode='no-reboot' is not supported in maintenance mode"
        );
        assert_eq!(decide(old(), &FIRST, Mode::Try).unwrap().act, Act::Configure);
    }

    #[test]
    fn auto_takes_the_reboot_that_no_reboot_refuses() {
        let change = next(Apply::Reboot);
        let auto = decide(now(), &change, Mode::Auto).unwrap();
        assert_eq!((auto.mode, auto.act), (Mode::Reboot.into(), Act::Reboot));
        assert!(auto.reason.starts_with(": this config change"), "{}", auto.reason);
        assert_eq!(decide(now(), &change, Mode::NoReboot).unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(decide(now(), &next(Apply::Live), Mode::Auto).unwrap().act, Act::Live);
    }

    #[test]
    fn a_mode_that_does_not_exist_passes_a_dry_run_only() {
        let version = TalosVersion::default();
        let change = next(Apply::Live);
        let refused = plan(version, &change, 9, false).unwrap_err();
        assert_eq!(refused.message(), "incorrect mode '9' specified for the apply config call");
        assert_eq!(plan(version, &change, 9, true).unwrap().mode, 9);
    }
}
