//! Which methods there are, and who may call them.
//!
//! The table is that of Talos 1.13.9 (`internal/app/machined/pkg/system/services/machined.go`); what is not in it is
//! unknown, and unknown methods are told before any role is looked at.

use crate::tls::Caller;
use crate::world::TalosVersion;

/// Roles that may call a method.
type Roles = &'static [&'static str];

const ADMIN: &str = "os:admin";
const OPERATOR: &str = "os:operator";
const READER: &str = "os:reader";
const BACKUP: &str = "os:etcd:backup";
const META_WRITER: &str = "os:meta:writer";
const IMAGE_VERIFIER: &str = "os:image:verifier";
/// May act in the name of the roles in the header `talos-role`: control planes use it among themselves.
const IMPERSONATOR: &str = "os:impersonator";

const ADMINS: Roles = &[ADMIN];
const OPERATORS: Roles = &[ADMIN, OPERATOR];
const READERS: Roles = &[ADMIN, OPERATOR, READER];
const BACKUPS: Roles = &[ADMIN, OPERATOR, READER, BACKUP];

/// Services with their methods and the roles that may call them.
const METHODS: &[(&str, Roles, &[&str])] = &[
    (
        "machine.MachineService",
        ADMINS,
        &[
            "ApplyConfiguration",
            "Bootstrap",
            "Copy",
            "EtcdDowngradeCancel",
            "EtcdDowngradeEnable",
            "EtcdDowngradeValidate",
            "EtcdForfeitLeadership",
            "EtcdLeaveCluster",
            "EtcdRecover",
            "EtcdRemoveMemberByID",
            "GenerateClientConfiguration",
            "Kubeconfig",
            "Read",
            "Reset",
            "Rollback",
            "Upgrade",
        ],
    ),
    (
        "machine.MachineService",
        OPERATORS,
        &[
            "EtcdAlarmDisarm",
            "EtcdDefragment",
            "ImagePull",
            "PacketCapture",
            "Reboot",
            "Restart",
            "ServiceRestart",
            "ServiceStart",
            "ServiceStop",
            "Shutdown",
        ],
    ),
    (
        "machine.MachineService",
        READERS,
        &[
            "CPUFreqStats",
            "CPUInfo",
            "Containers",
            "DiskStats",
            "DiskUsage",
            "Dmesg",
            "Events",
            "Hostname",
            "ImageList",
            "List",
            "LoadAvg",
            "Logs",
            "LogsContainers",
            "Memory",
            "Mounts",
            "Netstat",
            "NetworkDeviceStats",
            "Processes",
            "ServiceList",
            "Stats",
            "SystemStat",
            "Version",
        ],
    ),
    ("machine.MachineService", BACKUPS, &["EtcdAlarmList", "EtcdMemberList", "EtcdStatus"]),
    ("machine.MachineService", &[ADMIN, OPERATOR, BACKUP], &["EtcdSnapshot"]),
    ("machine.MachineService", &[ADMIN, META_WRITER], &["MetaDelete", "MetaWrite"]),
    ("machine.DebugService", ADMINS, &["ContainerRun"]),
    ("machine.ImageService", ADMINS, &["Import", "Remove"]),
    ("machine.ImageService", OPERATORS, &["Pull"]),
    ("machine.ImageService", READERS, &["List"]),
    ("machine.ImageService", &[ADMIN, OPERATOR, READER, IMAGE_VERIFIER], &["Verify"]),
    ("machine.LifecycleService", ADMINS, &["Install", "Upgrade"]),
    ("cluster.ClusterService", READERS, &["HealthCheck"]),
    ("cosi.resource.State", ADMINS, &["Create", "Destroy", "Update"]),
    ("cosi.resource.State", READERS, &["Get", "List", "Watch"]),
    ("inspect.InspectService", READERS, &["ControllerRuntimeDependencies"]),
    ("storage.StorageService", ADMINS, &["BlockDeviceWipe"]),
    ("storage.StorageService", READERS, &["Disks"]),
    ("time.TimeService", READERS, &["Time", "TimeCheck"]),
];

/// Services that came with 1.13.
const SINCE_1_13: [&str; 3] = ["machine.DebugService", "machine.ImageService", "machine.LifecycleService"];

/// What readers may do in maintenance mode besides, since nobody else can configure a machine.
const FOR_READERS_IN_MAINTENANCE: [&str; 2] = ["ApplyConfiguration", "BlockDeviceWipe"];

/// Answers of the small server that serves maintenance mode up to 1.12 for methods that it knows but refuses.
const NOT_IN_MAINTENANCE_UP_TO_1_12: [&str; 5] = ["MetaDelete", "MetaWrite", "Reset", "Upgrade", "Version"];

/// Why a call is not let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// `Unimplemented` with this text.
    Unimplemented(String),
    /// `PermissionDenied` "not authorized".
    NotAuthorized,
}

/// In which mode, and by which version, a call is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    pub(super) version: TalosVersion,
    pub(super) maintenance: bool,
}

/// Judges a call of `/service/method`.
pub(super) fn judge(path: &str, mode: Mode, caller: &Caller) -> Result<(), Refusal> {
    let (service, method) = path.trim_start_matches('/').rsplit_once('/').unwrap_or((path, ""));
    let roles = roles(service, method, mode.version)?;
    if mode.maintenance && !mode.version.apid_in_maintenance() {
        return in_old_maintenance(service, method);
    }
    let extra = mode.maintenance && FOR_READERS_IN_MAINTENANCE.contains(&method) && caller.has(READER);
    if extra || roles.iter().any(|role| caller.has(role)) { Ok(()) } else { Err(Refusal::NotAuthorized) }
}

/// Who the caller is in effect: an impersonator acts with the roles of the header, and with none without it.
pub(super) fn effective(caller: &Caller, header: Vec<String>) -> Caller {
    if caller.has(IMPERSONATOR) { Caller { roles: header, ..caller.clone() } } else { caller.clone() }
}

fn roles(service: &str, method: &str, version: TalosVersion) -> Result<Roles, Refusal> {
    let too_new = SINCE_1_13.contains(&service) && !version.apid_in_maintenance();
    let mut rows = METHODS.iter().filter(|(name, ..)| *name == service && !too_new).peekable();
    if rows.peek().is_none() {
        return Err(Refusal::Unimplemented(format!("unknown service {service}")));
    }
    rows.find_map(|(_, roles, methods)| methods.contains(&method).then_some(*roles))
        .ok_or_else(|| Refusal::Unimplemented(format!("unknown method {method} for service {service}")))
}

fn in_old_maintenance(service: &str, method: &str) -> Result<(), Refusal> {
    let unimplemented = |text: String| Err(Refusal::Unimplemented(text));
    match service {
        "cosi.resource.State" if READING.contains(&method) => Ok(()),
        "cosi.resource.State" => Err(Refusal::NotAuthorized),
        "storage.StorageService" => Ok(()),
        "machine.MachineService" if method == "ApplyConfiguration" => Ok(()),
        "machine.MachineService" if NOT_IN_MAINTENANCE_UP_TO_1_12.contains(&method) => {
            unimplemented("API is not implemented in maintenance mode".to_owned())
        }
        "machine.MachineService" => unimplemented(format!("method {method} not implemented")),
        other => unimplemented(format!("unknown service {other}")),
    }
}

const READING: [&str; 3] = ["Get", "List", "Watch"];

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn mode(version: &str, maintenance: bool) -> Mode {
        Mode { version: version.parse().unwrap(), maintenance }
    }

    fn caller(role: &str) -> Caller {
        Caller { roles: vec![role.to_owned()], common_name: None }
    }

    #[test]
    fn what_is_unknown_is_told_before_any_role_is_looked_at() {
        let nobody = Caller::default();
        let now = mode("v1.13.9", false);
        let told = |path| judge(path, now, &nobody).unwrap_err();
        let unknown = |text: &str| Refusal::Unimplemented(text.to_owned());
        assert_eq!(told("/nope.NopeService/Nope"), unknown("unknown service nope.NopeService"));
        let method = "unknown method Nope for service machine.MachineService";
        assert_eq!(told("/machine.MachineService/Nope"), unknown(method));
        assert_eq!(told("/machine.MachineService/Version"), Refusal::NotAuthorized);
    }

    #[test]
    fn a_reader_configures_only_in_maintenance_mode() {
        let path = "/machine.MachineService/ApplyConfiguration";
        let reader = caller(READER);
        assert_eq!(judge(path, mode("v1.13.9", true), &reader), Ok(()));
        assert_eq!(judge(path, mode("v1.12.4", true), &reader), Ok(()));
        assert_eq!(judge(path, mode("v1.13.9", false), &reader), Err(Refusal::NotAuthorized));
    }

    #[test]
    fn an_impersonator_is_what_the_header_says_and_nobody_else_is() {
        let header = vec![ADMIN.to_owned()];
        assert!(effective(&caller(IMPERSONATOR), header.clone()).has(ADMIN));
        assert!(effective(&caller(IMPERSONATOR), Vec::new()).roles.is_empty());
        assert!(!effective(&caller(READER), header).has(ADMIN));
    }

    #[test]
    fn maintenance_mode_up_to_1_12_is_a_smaller_server() {
        let old = mode("v1.12.4", true);
        let reader = caller(READER);
        let version = judge("/machine.MachineService/Version", old, &reader);
        assert!(matches!(version, Err(Refusal::Unimplemented(text)) if text.contains("maintenance mode")));
        let time = judge("/time.TimeService/Time", old, &reader);
        assert_eq!(time, Err(Refusal::Unimplemented("unknown service time.TimeService".to_owned())));
    }
}
