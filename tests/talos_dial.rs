//! Dialling machines: what each kind of answer is taken for. The servers here only shake hands and say what a Talos
//! machine says first, its HTTP/2 settings; whole machines are simulated elsewhere.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use kontinuum::clients::talos::{Admin, Credentials, Fault, Fingerprint, Maintenance, PORT};
use kontinuum::domain::names::Address;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ED25519, SanType, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const BUDGET: Duration = Duration::from_secs(30);

/// An empty SETTINGS frame: the first that every HTTP/2 server sends.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

#[tokio::test]
async fn a_machine_in_maintenance_mode_answers_and_shows_its_fingerprint() {
    let machine = Machine::in_maintenance().await;
    let found = Maintenance::dial(machine.address.clone(), None, BUDGET).await.unwrap();
    assert_eq!(*found.address(), machine.address);
    let again = Maintenance::dial(machine.address.clone(), Some(found.fingerprint()), BUDGET).await.unwrap();
    assert_eq!(again.fingerprint(), found.fingerprint());
}

#[tokio::test]
async fn another_fingerprint_than_the_expected_one_is_refused() {
    let machine = Machine::in_maintenance().await;
    let expected = Fingerprint::parse("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=").unwrap();
    let error = Maintenance::dial(machine.address, Some(expected), BUDGET).await.unwrap_err();
    assert!(
        matches!(error.fault(), Fault::WrongFingerprint { expected: e, .. } if *e == expected),
        "{error:?}"
    );
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_configured_machine_is_told_from_an_unreachable_one() {
    let cluster = Cluster::new();
    let machine = cluster.machine(Life::Now, None).await;
    let error = Maintenance::dial(machine.address, None, BUDGET).await.unwrap_err();
    assert_eq!(*error.fault(), Fault::CertificateRequired, "{error:?}");
}

#[tokio::test]
async fn something_else_than_a_machine_is_not_talked_to() {
    let machine = Machine::with_name("printer.example.com").await;
    let error = Maintenance::dial(machine.address, None, BUDGET).await.unwrap_err();
    assert_eq!(*error.fault(), Fault::NotTalos("printer.example.com".to_owned()));
}

#[tokio::test]
async fn an_administrator_reaches_only_machines_of_the_own_cluster() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    let (own, foreign) = (cluster.machine(Life::Now, None).await, other.machine(Life::Now, None).await);
    let unconfigured = Machine::in_maintenance().await;
    let credentials = cluster.credentials(Life::Now);
    let dial = |machine: &Machine| Admin::dial(machine.address.clone(), &credentials, BUDGET);

    assert_eq!(*dial(&own).await.unwrap().address(), own.address);
    assert_eq!(*dial(&foreign).await.unwrap_err().fault(), Fault::Foreign);
    assert_eq!(*dial(&unconfigured).await.unwrap_err().fault(), Fault::InMaintenance);
}

/// The machine's certificate is ours, but it doesn't know the authority of our certificate.
#[tokio::test]
async fn a_machine_that_refuses_our_authority_is_foreign() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    let machine = cluster.machine(Life::Now, Some(&other)).await;
    let error = Admin::dial(machine.address, &cluster.credentials(Life::Now), BUDGET).await.unwrap_err();
    assert_eq!(*error.fault(), Fault::Foreign, "{error:?}");
}

#[tokio::test]
async fn wrong_clocks_are_waited_for_and_never_taken_for_a_foreign_machine() {
    let cluster = Cluster::new();
    let (past, future, now) = (
        cluster.machine(Life::Past, None).await,
        cluster.machine(Life::Future, None).await,
        cluster.machine(Life::Now, None).await,
    );
    let credentials = cluster.credentials(Life::Now);
    let fault = |machine: Machine, credentials: Credentials| async move {
        let error = Admin::dial(machine.address, &credentials, BUDGET).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        error.fault().clone()
    };
    assert_eq!(fault(past, credentials.clone()).await, Fault::Expired);
    assert_eq!(fault(future, credentials).await, Fault::NotYetValid);
    assert_eq!(fault(now, cluster.credentials(Life::Past)).await, Fault::OursExpired);
}

#[tokio::test]
async fn silence_and_refusal_are_told_apart_and_bounded() {
    let listener = TcpListener::bind((next_address(), PORT)).await.unwrap();
    let silent = Address::parse(&listener.local_addr().unwrap().ip().to_string()).unwrap();
    let budget = Duration::from_millis(100);
    let error = Maintenance::dial(silent, None, budget).await.unwrap_err();
    assert_eq!(*error.fault(), Fault::Silent(budget));
    let nobody = Address::parse(&next_address().to_string()).unwrap();
    let error = Maintenance::dial(nobody, None, BUDGET).await.unwrap_err();
    assert_eq!(*error.fault(), Fault::Refused);
}

#[tokio::test]
async fn the_first_candidate_that_answers_wins_in_the_given_order() {
    let nobody = Address::parse(&next_address().to_string()).unwrap();
    let (first, second) = (Machine::in_maintenance().await, Machine::in_maintenance().await);
    let candidates = [nobody.clone(), second.address.clone(), first.address];
    let found = Maintenance::dial_in_order(&candidates, None).await.unwrap();
    assert_eq!(*found.address(), second.address);
    let found = Maintenance::dial_at_once(&[nobody, second.address.clone()], None, BUDGET).await.unwrap();
    assert_eq!(*found.address(), second.address);
}

#[tokio::test]
async fn every_candidate_is_named_when_none_answers() {
    let nobody = Address::parse(&next_address().to_string()).unwrap();
    let configured = Cluster::new().machine(Life::Now, None).await;
    let candidates = [nobody.clone(), configured.address.clone()];
    for failures in [
        Maintenance::dial_in_order(&candidates, None).await.unwrap_err(),
        Maintenance::dial_at_once(&candidates, None, BUDGET).await.unwrap_err(),
    ] {
        assert!(failures.is_configured());
        let text = failures.to_string();
        assert!(
            text.starts_with(&format!("dial any of 2 addresses: {nobody}: connection refused; ")),
            "{text}"
        );
        assert!(
            text.contains(&format!("{}: the machine is already configured", configured.address)),
            "{text}"
        );
    }
}

#[test]
fn credentials_that_can_not_be_read_say_which_part() {
    let cluster = Cluster::new();
    let pem = cluster.issuer_pem.as_str();
    let Err(Fault::Credentials(text)) = Credentials::from_pem("", pem, pem) else { panic!("it was taken") };
    assert!(text.starts_with("the authority's certificate: "), "{text}");
    let Err(Fault::Credentials(text)) = Credentials::from_pem(pem, pem, pem) else { panic!("it was taken") };
    assert!(text.starts_with("the client's key: "), "{text}");
}

/// A server on an address of its own.
struct Machine {
    address: Address,
}

#[derive(Clone, Copy)]
enum Life {
    Past,
    Now,
    Future,
}

/// An authority.
struct Cluster {
    issuer: Issuer<'static, KeyPair>,
    issuer_pem: String,
    issuer_der: CertificateDer<'static>,
}

impl Machine {
    async fn in_maintenance() -> Self {
        Self::with_name("maintenance-service.talos.dev").await
    }

    async fn with_name(name: &str) -> Self {
        let authority = Cluster::new();
        let ip = next_address();
        let mut parameters = authority.leaf(Life::Now, ip);
        parameters.distinguished_name.push(DnType::CommonName, name);
        let (certificate, key) = authority.sign(&parameters);
        let configuration =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![certificate], key)
                .unwrap();
        Self::serve(ip, configuration).await
    }

    async fn serve(ip: Ipv4Addr, mut configuration: ServerConfig) -> Self {
        configuration.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(configuration));
        let listener = TcpListener::bind((ip, PORT)).await.unwrap();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let mut stream = acceptor.accept(socket).await?;
                    stream.write_all(&SETTINGS).await?;
                    stream.flush().await?;
                    stream.read_to_end(&mut Vec::new()).await
                });
            }
        });
        Self { address: Address::parse(&ip.to_string()).unwrap() }
    }
}

impl Cluster {
    /// All authorities have the same name, as Talos' have.
    fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.distinguished_name.push(DnType::OrganizationName, "talos");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = parameters.self_signed(&key).unwrap();
        Self {
            issuer_pem: certificate.pem(),
            issuer_der: certificate.der().clone(),
            issuer: Issuer::new(parameters, key),
        }
    }

    /// A configured machine; `trusts` is whose clients it lets in, its own cluster's unless given.
    async fn machine(&self, life: Life, trusts: Option<&Self>) -> Machine {
        let ip = next_address();
        let (certificate, key) = self.sign(&self.leaf(life, ip));
        let mut roots = RootCertStore::empty();
        roots.add(trusts.unwrap_or(self).issuer_der.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .unwrap();
        let configuration = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Machine::serve(ip, configuration).await
    }

    fn credentials(&self, life: Life) -> Credentials {
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let mut parameters = self.leaf(life, Ipv4Addr::LOCALHOST);
        parameters.subject_alt_names.clear();
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        let label = |pem: String| pem.replace("PRIVATE KEY", "ED25519 PRIVATE KEY");
        Credentials::from_pem(&self.issuer_pem, &certificate.pem(), &label(key.serialize_pem())).unwrap()
    }

    fn leaf(&self, life: Life, ip: Ipv4Addr) -> CertificateParams {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.subject_alt_names = vec![SanType::IpAddress(ip.into())];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let (from, until) = match life {
            Life::Past => (2000, 2001),
            Life::Now => (2000, 4000),
            Life::Future => (3999, 4000),
        };
        (parameters.not_before, parameters.not_after) =
            (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        parameters
    }

    fn sign(&self, parameters: &CertificateParams) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        (certificate.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).unwrap())
    }
}

/// An address of the loopback network that no other test of this process has, and hardly one of another process.
fn next_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let process = std::process::id().to_le_bytes();
    Ipv4Addr::new(127, 128 | process[1], process[0], NEXT.fetch_add(1, Ordering::Relaxed))
}
