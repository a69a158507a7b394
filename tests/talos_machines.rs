//! Our clients against simulated machines: from discovery to a bootstrapped control plane and back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use kontinuum::clients::talos::pki::{SystemRandom, administrator, generate_secrets};
use kontinuum::clients::talos::{
    Admin, Bootstrapped, Change, Credentials, Fault, Health, HealthCheck, MachineStatus, Maintenance, Stage,
    Watch,
};
use kontinuum::domain::machine_configuration::{
    Contract, Inputs, InstallTarget, NetworkPlugin, Role, Secret, SecretsBundle, generate, installer_image,
};
use kontinuum::domain::names::Address;
use simulator::{Simulator, World, fault};
use tokio::sync::Notify;
use tonic::Code;

/// Nothing here takes a second; what takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_in_maintenance_mode_is_discovered() {
    for version in ["v1.12.11", "v1.13.9"] {
        let (lab, folder) = (next_address(), tempfile::tempdir().unwrap());
        let simulator = start(&folder, &world(lab, version, DETAILS)).await;
        let found = maintenance(lab).await.discover().await.unwrap();

        assert_eq!(found.address.as_str(), lab.to_string());
        assert_eq!(found.talos_version, version);
        assert_eq!(found.uuid, "4c4c4544-0044-4810-8031-b9c04f4d3733");
        assert_eq!(found.serial_number, "D1H0O33");
        assert_eq!(found.processor_count, 8);
        assert_eq!(found.memory_bytes, 16 << 30);
        assert!(found.secure_boot);
        assert_eq!(found.schematic, "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba");
        let links: Vec<_> =
            found.links.iter().map(|link| (link.name.as_str(), link.mac_address.as_str())).collect();
        assert_eq!(links, [("bond0", "02:00:00:00:00:03"), ("eth0", "02:00:00:00:00:01")]);
        assert_eq!(found.links.first().unwrap().addresses, ["10.9.0.1/24"]);
        let disks: Vec<_> = found
            .disks
            .iter()
            .map(|disk| (disk.device_path.as_str(), disk.size_bytes >> 30, disk.foreign_content.as_deref()))
            .collect();
        assert_eq!(
            disks,
            [("/dev/nvme0n1", 512, None), ("/dev/sda", 64, Some("partitions: EFI System, ubuntu-root"))]
        );
        simulator.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_is_taken_from_maintenance_to_a_control_plane_and_back() {
    let (lab, folder) = (next_address(), tempfile::tempdir().unwrap());
    let simulator = start(&folder, &world(lab, "v1.13.9", "")).await;
    let cluster = Cluster::new(lab).await;
    let machine = maintenance(lab).await;

    let unknown_key = Secret::new(format!("{}nonsense: true\n", cluster.configuration.expose()));
    let error = machine.dry_run(&unknown_key).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::InvalidArgument), "{error:?}");
    assert!(!error.is_transient());
    machine.dry_run(&cluster.configuration).await.unwrap();
    assert_eq!(machine.status().await.unwrap().stage, Stage::Maintenance, "a dry run changes nothing");
    machine.apply_configuration(&cluster.configuration).await.unwrap();

    let machine = cluster.configured(&simulator).await;
    let error = Maintenance::dial(cluster.address.clone(), None, PATIENCE).await.unwrap_err();
    assert_eq!(*error.fault(), Fault::CertificateRequired);
    assert_eq!(machine.version().await.unwrap(), "v1.13.9");
    assert_eq!(machine.machine_configuration().await.unwrap(), Some(cluster.configuration.clone()));
    assert_eq!(machine.time_in_sync().await.unwrap(), Some(true));
    let booted = machine.boot_time().await.unwrap();
    assert!(booted.abs_diff(u64::try_from(Timestamp::now().as_second()).unwrap()) < 300, "{booted}");
    assert!(machine.services().await.unwrap().iter().any(|service| service.id == "etcd"));

    assert!(!machine.has_etcd_data().await.unwrap());
    assert!(machine.etcd_members().await.unwrap_err().is_transient());
    let Health::Unhealthy(last_word) =
        machine.health_check(check(lab, Duration::from_secs(2))).await.unwrap()
    else {
        panic!("a cluster that was never bootstrapped is healthy");
    };
    assert!(last_word.starts_with("waiting for etcd"), "{last_word}");
    assert_eq!(machine.bootstrap().await.unwrap(), Bootstrapped::Started);
    until_healthy(&machine, "etcd").await;
    assert_eq!(machine.bootstrap().await.unwrap(), Bootstrapped::AlreadyHasData);
    assert!(machine.has_etcd_data().await.unwrap());
    let members = machine.etcd_members().await.unwrap();
    assert_eq!(members.len(), 1, "{members:?}");
    let status = machine.etcd_status().await.unwrap();
    assert_eq!((Some(status.member_id), status.is_learner), (status.leader, false));
    assert!(!machine.etcd_remove_member(status.member_id ^ 1).await.unwrap(), "there is no such member");
    assert!(machine.kubeconfig().await.unwrap().expose().contains("admin@prod"));

    machine.reset(false).await.unwrap();
    reaches(&simulator, simulator::Stage::Maintenance).await;
    let again = maintenance(lab).await;
    assert_eq!(again.status().await.unwrap().stage, Stage::Maintenance);
    simulator.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_installation_is_quoted() {
    let (lab, folder) = (next_address(), tempfile::tempdir().unwrap());
    let simulator = start(&folder, &world(lab, "v1.13.9", "")).await;
    let error = "failed to partition the disk: input/output error".to_owned();
    simulator.fault("cp", fault::Fault::FailInstall { error: error.clone(), times: 1 }).unwrap();
    let cluster = Cluster::new(lab).await;
    maintenance(lab).await.apply_configuration(&cluster.configuration).await.unwrap();
    reaches(&simulator, simulator::Stage::Installing).await;
    reaches(&simulator, simulator::Stage::Maintenance).await;
    let quoted = maintenance(lab).await.last_failure().await.unwrap().unwrap();
    assert!(quoted.contains(&error), "{quoted}");
    simulator.shut_down().await;
}

/// The machine has taken the configuration, and we don't know it: another look is needed, not another cluster.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_is_neither_success_nor_final() {
    let (lab, folder) = (next_address(), tempfile::tempdir().unwrap());
    let simulator = start(&folder, &world(lab, "v1.13.9", "")).await;
    let cluster = Cluster::new(lab).await;
    let lost = fault::Fault::DropReply { method: "ApplyConfiguration".to_owned(), calls: 1 };
    simulator.fault("cp", lost).unwrap();
    let error = maintenance(lab).await.apply_configuration(&cluster.configuration).await.unwrap_err();
    assert!(matches!(error.fault(), Fault::Lost(_)), "{error:?}");
    assert!(error.is_transient());
    cluster.configured(&simulator).await.version().await.unwrap();
    simulator.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sleeper_is_woken_by_what_happens_to_the_machine() {
    let (lab, folder) = (next_address(), tempfile::tempdir().unwrap());
    let simulator = start(&folder, &world(lab, "v1.13.9", "")).await;
    let cluster = Cluster::new(lab).await;
    maintenance(lab).await.apply_configuration(&cluster.configuration).await.unwrap();
    let machine = cluster.configured(&simulator).await;

    let woken = Arc::new(Notify::new());
    let notify = Arc::clone(&woken);
    let watching = machine.wake_on_change(move || notify.notify_one());
    within(woken.notified()).await;
    machine.reboot().await.unwrap();
    within(woken.notified()).await;
    drop(watching);

    simulator.power("cp", false).unwrap();
    simulator.shut_down().await;
}

fn check(control_plane: Ipv4Addr, wait: Duration) -> HealthCheck {
    HealthCheck { control_planes: vec![control_plane.to_string()], workers: Vec::new(), endpoint: None, wait }
}

/// A cluster whose first control plane is this machine.
struct Cluster {
    address: Address,
    credentials: Credentials,
    configuration: Secret,
}

impl Cluster {
    async fn new(address: Ipv4Addr) -> Self {
        let now = Timestamp::now();
        let secrets: SecretsBundle = generate_secrets(now).await.unwrap();
        let client = administrator(&secrets, now, &mut SystemRandom::default()).unwrap();
        let mut inputs =
            Inputs::new(Role::ControlPlane, "prod", &format!("https://{address}:6443"), "1.36.3");
        inputs.install_disk = Some(InstallTarget::Path("/dev/sda".to_owned()));
        inputs.installer_image = installer_image("", false, "v1.13.9");
        (inputs.network_plugin, inputs.kube_proxy) = (NetworkPlugin::None, false);
        inputs.subject_alternative_names = vec![address.to_string()];
        let configuration = generate(&inputs, &secrets, Contract::V1_13).unwrap();
        Self {
            address: Address::parse(&address.to_string()).unwrap(),
            credentials: client.credentials().unwrap(),
            configuration: Secret::new(configuration.to_yaml().expose()),
        }
    }

    /// Dials the machine once it is back from its installation.
    async fn configured(&self, simulator: &Simulator) -> Admin {
        reaches(simulator, simulator::Stage::Booting).await;
        within(simulator.listening()).await;
        Admin::dial(self.address.clone(), &self.credentials, PATIENCE).await.unwrap()
    }
}

/// What the world says of a machine whose details are looked at.
const DETAILS: &str = "
    uuid: 4c4c4544-0044-4810-8031-b9c04f4d3733
    serial_number: D1H0O33
    processors: 8
    memory: 16GiB
    secure_boot: true
    schematic: 376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba
    links:
      - { name: eth0, mac: '02:00:00:00:00:01', addresses: ['169.254.7.7/16'] }
      - { name: bond0, mac: '02:00:00:00:00:03', kind: bond, addresses: ['10.9.0.1/24'] }
      - { name: dummy0, mac: '02:00:00:00:00:04', kind: dummy, addresses: ['10.8.0.1/24'] }
    disks:
      - name: sda
        partitions:
          - { label: EFI System, filesystem: vfat, size: 512MiB }
          - { label: ubuntu-root, filesystem: ext4, size: 60GiB }
      - { name: nvme0n1, size: 512GiB, transport: nvme }
      - { name: loop0, size: 1GiB, transport: none, read_only: true }
      - { name: sr0, size: 1GiB, cdrom: true }
";

fn world(address: Ipv4Addr, version: &str, details: &str) -> String {
    format!(
        "machines:\n  - name: cp\n    addresses: [{address}]\n    talos_version: {version}\n    boot_time: 0s\n    \
         install_time: 100ms\n{details}"
    )
}

async fn start(folder: &tempfile::TempDir, text: &str) -> Simulator {
    let mut world = World::parse(text).unwrap();
    world.data = Some(folder.path().to_owned());
    let simulator = Simulator::start(world, None).unwrap();
    within(simulator.listening()).await;
    simulator
}

async fn maintenance(address: Ipv4Addr) -> Maintenance {
    let address = Address::parse(&address.to_string()).unwrap();
    Maintenance::dial(address, None, PATIENCE).await.unwrap()
}

/// Looks at a service whenever the machine's summary changes, until it is healthy.
async fn until_healthy(machine: &Admin, service: &str) {
    let mut watch: Watch<MachineStatus> = machine.watch_status().await.unwrap();
    let healthy = async {
        loop {
            assert_ne!(watch.next().await.unwrap(), Change::Absent);
            let services = machine.services().await.unwrap();
            if services.iter().any(|found| found.id == service && found.healthy == Some(true)) {
                return;
            }
        }
    };
    within(healthy).await;
}

async fn reaches(simulator: &Simulator, stage: simulator::Stage) {
    within(simulator.reaches("cp", stage)).await.unwrap();
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap()
}

/// An address of the loopback network that no other test of this process has, and hardly one of another process.
fn next_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let process = std::process::id().to_le_bytes();
    Ipv4Addr::new(127, 64 | (process[1] & 63), process[0], NEXT.fetch_add(1, Ordering::Relaxed))
}
