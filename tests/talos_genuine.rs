//! Our clients against the parts that Talos is made of: Go's TLS, gRPC's Go server, the COSI runtime's own state server,
//! and resources as Talos' own types write them (`tests/lab/talos/cmd/machine`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod talos_lab;

use std::io::{BufRead, BufReader, Write};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use kontinuum::clients::talos::deadline::FIRST_BYTE;
use kontinuum::clients::talos::pki::{SystemRandom, administrator, generate_secrets_blocking};
use kontinuum::clients::talos::{Admin, Change, Credentials, Fault, Maintenance, Stage};
use kontinuum::domain::machine_configuration::SecretsBundle;
use kontinuum::domain::names::Address;
use serde_json::json;
use tonic::Code;

const PATIENCE: Duration = Duration::from_secs(60);

/// As often as one handshake in two loses its alert when a client writes first.
const REPEATED: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_read_as_talos_own_types_write_them() {
    let machine = Machine::start(None);
    let dialled = Instant::now();
    let client = Maintenance::dial(machine.address.clone(), None, PATIENCE).await.unwrap();
    assert!(dialled.elapsed() < FIRST_BYTE, "the server speaks first, nobody waits for the other");
    assert_eq!(client.status().await.unwrap().stage, Stage::Maintenance);

    let facts = client.discover().await.unwrap();
    assert_eq!(facts.talos_version, "v1.13.9");
    assert_eq!(facts.uuid, "4c4c4544-0044-4810-8031-b9c04f4d3733");
    assert_eq!(facts.serial_number, "D1H0O33");
    assert_eq!((facts.processor_count, facts.memory_bytes), (8, 16 << 30));
    assert!(facts.secure_boot);
    assert_eq!(facts.schematic, "0123456789abcdef");
    let [link] = facts.links.as_slice() else { panic!("{:?}", facts.links) };
    assert_eq!((link.name.as_str(), link.mac_address.as_str()), ("eth0", "02:00:00:00:00:01"));
    assert_eq!(link.addresses, ["10.0.0.11/24", "2001:db8::11/64"]);
    let [disk] = facts.disks.as_slice() else { panic!("{:?}", facts.disks) };
    assert_eq!((disk.name.as_str(), disk.device_path.as_str()), ("sda", "/dev/sda"));
    assert_eq!((disk.size_bytes, disk.rotational), (64 << 30, true));
    assert_eq!(
        (disk.model.as_str(), disk.serial.as_str(), disk.transport.as_str()),
        ("EXAMPLE", "S1", "sata")
    );
    assert_eq!(disk.foreign_content.as_deref(), Some("partitions: data"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_is_let_in_and_told_of_every_change() {
    let cluster = &*CLUSTER;
    let machine = Machine::start(Some(cluster));
    let client = Admin::dial(machine.address.clone(), &credentials(cluster, NOW), PATIENCE).await.unwrap();
    let status = client.status().await.unwrap();
    assert_eq!((status.stage, status.ready), (Stage::Booting, false));
    assert_eq!(status.unmet.first().unwrap().reason, "etcd not running");
    assert_eq!(client.time_in_sync().await.unwrap(), Some(true));
    assert_eq!(client.machine_configuration().await.unwrap(), None);
    let services = client.services().await.unwrap();
    let [etcd] = services.as_slice() else { panic!("{services:?}") };
    assert_eq!((etcd.healthy, etcd.last_message.as_str()), (None, "Running pre state"));

    let mut watch = client.watch_status().await.unwrap();
    assert_eq!(watch.next().await.unwrap(), Change::Present(status));
    client.reboot().await.unwrap();
    let Change::Present(status) = within(watch.next()).await.unwrap() else { panic!("it vanished") };
    assert_eq!(status.stage, Stage::Rebooting);

    let error = client.bootstrap().await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Unimplemented));
    assert!(!error.is_transient());
}

/// A client that writes before it reads loses half of these answers to a broken pipe.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_understood_every_time() {
    let cluster = &*CLUSTER;
    let machine = Machine::start(Some(cluster));
    let stranger = generate_secrets_blocking(Timestamp::now(), &mut SystemRandom::default()).unwrap();
    // Verifies this machine, but offers a certificate that another cluster signed.
    let misfit = SecretsBundle { os: stranger.os.clone(), ..cluster.clone() };
    let misfit = administrator(&misfit, Timestamp::now(), &mut SystemRandom::default()).unwrap();
    let misfit =
        Credentials::from_pem(&cluster.os.certificate, &misfit.certificate, misfit.key.expose()).unwrap();
    let years = SignedDuration::from_hours(3 * 8760);
    let cases = [
        (credentials(&stranger, NOW), Fault::Foreign),
        (misfit, Fault::Foreign),
        (credentials(cluster, -years), Fault::OursExpired),
        (credentials(cluster, years), Fault::OursExpired),
    ];
    for _ in 0..REPEATED {
        let error = Maintenance::dial(machine.address.clone(), None, PATIENCE).await.unwrap_err();
        assert_eq!(*error.fault(), Fault::CertificateRequired, "{error:?}");
        for (credentials, expected) in &cases {
            let error = Admin::dial(machine.address.clone(), credentials, PATIENCE).await.unwrap_err();
            assert_eq!(error.fault(), expected, "{error:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_recognises_a_machine_in_maintenance_mode() {
    let machine = Machine::start(None);
    let error =
        Admin::dial(machine.address.clone(), &credentials(&CLUSTER, NOW), PATIENCE).await.unwrap_err();
    assert_eq!(*error.fault(), Fault::InMaintenance, "{error:?}");
}

/// The machine is killed: calls that wait for it end, and say that the connection is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_vanishes_ends_a_watch() {
    let mut machine = Machine::start(None);
    let client = Maintenance::dial(machine.address.clone(), None, PATIENCE).await.unwrap();
    let mut watch = client.watch_status().await.unwrap();
    assert!(matches!(watch.next().await.unwrap(), Change::Present(_)));
    machine.child.kill().unwrap();
    let error = within(watch.next()).await.unwrap_err();
    assert!(error.is_transient() && error.fault().is_unreachable(), "{error:?}");
}

const NOW: SignedDuration = SignedDuration::ZERO;

/// Computing an RSA key takes seconds: the tests share one cluster.
static CLUSTER: LazyLock<SecretsBundle> = LazyLock::new(|| {
    let years = SignedDuration::from_hours(5 * 8760);
    generate_secrets_blocking(Timestamp::now() - years, &mut SystemRandom::default()).unwrap()
});

/// An administrator's credentials, made so much later than now.
fn credentials(cluster: &SecretsBundle, later: SignedDuration) -> Credentials {
    let client = administrator(cluster, Timestamp::now() + later, &mut SystemRandom::default()).unwrap();
    client.credentials().unwrap()
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap()
}

/// The lab's machine; it ends with this.
struct Machine {
    child: Child,
    address: Address,
}

impl Machine {
    fn start(cluster: Option<&SecretsBundle>) -> Self {
        let address = next_address();
        let bundle = cluster.map(SecretsBundle::to_yaml);
        let request = json!({
            "address": address.to_string(),
            "bundle": bundle.as_ref().map_or("", |bundle| bundle.expose()),
        });
        let mut child = Command::new(talos_lab::program("talos-machine"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(request.to_string().as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "listening\n");
        Self { child, address: Address::parse(&address.to_string()).unwrap() }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// An address of the loopback network that no other test of this process has, and hardly one of another process.
fn next_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let process = std::process::id().to_le_bytes();
    Ipv4Addr::new(127, 32 | (process[1] & 31), process[0], NEXT.fetch_add(1, Ordering::Relaxed))
}
