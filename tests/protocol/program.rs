//! The real program: its handshake, its TLS, and what ends it.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use base64::Engine as _;
use hyper_util::rt::TokioIo;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tonic::transport::{Channel, Endpoint};

use crate::connection::{Client, PATIENCE, channel};
use crate::generated::plugin::Empty;
use crate::generated::plugin::grpc_controller_client::GrpcControllerClient;
use crate::generated::tfplugin6 as wire;

const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terraform-provider-kontinuum"));
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// The program as a client starts it, its socket below `folder`.
fn as_plugin(folder: &Path) -> Command {
    let mut command = program();
    command
        .env("TF_PLUGIN_MAGIC_COOKIE", COOKIE)
        .env("PLUGIN_PROTOCOL_VERSIONS", "6,5")
        .env("PLUGIN_UNIX_SOCKET_DIR", folder);
    command
}

/// The fields of the line that the program says first.
async fn handshake(child: &mut Child) -> Vec<String> {
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("it says something in time");
    let line = line.expect("stdout can be read").expect("a line comes");
    line.split('|').map(str::to_owned).collect()
}

async fn exit(child: &mut Child) -> Option<i32> {
    tokio::time::timeout(PATIENCE, child.wait())
        .await
        .expect("it ends in time")
        .expect("it was started")
        .code()
}

fn signal(child: &Child, name: &str) {
    let process = child.id().expect("it runs").to_string();
    let sent = std::process::Command::new("kill").args(["-s", name, &process]).status();
    assert!(sent.expect("kill runs").success());
}

async fn asks(channel: Channel) -> Result<(), tonic::Status> {
    Client::over(channel).rpc.get_metadata(wire::get_metadata::Request {}).await.map(drop)
}

/// As Terraform makes it: self-signed, P-521, a CA.
struct Identity {
    certificate: rcgen::Certificate,
    key: rcgen::KeyPair,
}

impl Identity {
    fn new() -> Self {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512).expect("a key can be made");
        let mut params =
            rcgen::CertificateParams::new(["localhost".to_owned()]).expect("localhost is a name");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.extended_key_usages =
            vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth, rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        Self { certificate: params.self_signed(&key).expect("a key signs itself"), key }
    }
}

/// Accepts the server that the handshake named.
#[derive(Debug)]
struct Named(Vec<u8>);

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        assert_eq!(shown.as_ref(), self.0, "the server shows the certificate of its handshake");
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// Connects as `identity`, or as nobody.
async fn secured(
    socket: &str,
    server: &str,
    identity: Option<&Identity>,
) -> Result<Channel, tonic::transport::Error> {
    let server = base64::engine::general_purpose::STANDARD_NO_PAD.decode(server).expect("base64");
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("TLS 1.2 and 1.3 are there")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Named(server)));
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(Identity { certificate, key }) => config
            .with_client_auth_cert(
                vec![certificate.der().clone()],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )
            .expect("key and certificate belong together"),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let (socket, connector) = (socket.to_owned(), tokio_rustls::TlsConnector::from(Arc::new(config)));
    let connect = tower::service_fn(move |_| {
        let (socket, connector) = (socket.clone(), connector.clone());
        async move {
            let stream = UnixStream::connect(socket).await?;
            let name = ServerName::try_from("localhost").expect("a name");
            connector.connect(name, stream).await.map(TokioIo::new)
        }
    });
    Endpoint::from_static("http://plugin").connect_with_connector(connect).await
}

#[tokio::test]
async fn a_person_who_starts_it_is_told_what_it_is() {
    let output = program().output().await.expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("This program is a plugin: Terraform and"));

    let wrong = program().env("TF_PLUGIN_MAGIC_COOKIE", "guess").output().await.expect("it starts");
    assert_eq!((wrong.status.code(), wrong.stderr), (Some(1), output.stderr));
}

#[tokio::test]
async fn a_client_of_another_protocol_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let output =
        as_plugin(folder.path()).env("PLUGIN_PROTOCOL_VERSIONS", "5").output().await.expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "This provider speaks version 6 of the plugin protocol; the client offers 5.\n"
    );
}

#[tokio::test]
async fn only_the_client_of_the_handshake_gets_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let terraform = Identity::new();
    let mut child = as_plugin(folder.path())
        .env("PLUGIN_CLIENT_CERT", terraform.certificate.pem())
        .spawn()
        .expect("it starts");
    let line = handshake(&mut child).await;
    let [core, protocol, network, socket, kind, certificate] = line.as_slice() else {
        panic!("expected six fields, got {line:?}")
    };
    assert_eq!([core, protocol, network, kind], ["1", "6", "unix", "grpc"]);

    let nobody = secured(socket, certificate, None).await;
    let refused = async |channel: Result<Channel, _>| match channel {
        Err(_) => true,
        // In TLS 1.3 a client learns that it is refused when it first reads.
        Ok(channel) => asks(channel).await.is_err(),
    };
    assert!(refused(nobody).await, "nobody gets in without a certificate");
    assert!(refused(secured(socket, certificate, Some(&Identity::new())).await).await, "nor with another");
    let cleartext = tokio::time::timeout(PATIENCE, async {
        let mut stream = UnixStream::connect(socket).await.expect("the socket is there");
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .await
            .expect("sent");
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer).await);
        answer
    });
    // A TLS alert (type 21) at most: no HTTP/2.
    assert!(cleartext.await.expect("it is refused in time").first().is_none_or(|kind| *kind == 21));

    let channel = secured(socket, certificate, Some(&terraform)).await.expect("its own client gets in");
    asks(channel.clone()).await.expect("it answers");
    assert!(child.try_wait().expect("it was started").is_none(), "who was refused ended nothing");

    drop(channel);
    assert_eq!(exit(&mut child).await, Some(0), "it ends with its client");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "and leaves nothing behind");
}

#[tokio::test]
async fn without_tls_the_certificate_is_empty_and_multiplexing_is_declined() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = as_plugin(folder.path()).env("PLUGIN_MULTIPLEX_GRPC", "true").spawn().expect("it starts");
    let line = handshake(&mut child).await;
    assert_eq!(line.get(4..), Some(["grpc", "", "false"].map(str::to_owned).as_slice()));
    asks(channel(line[3].clone().into()).await).await.expect("it answers");
    assert_eq!(exit(&mut child).await, Some(0));
}

#[tokio::test]
async fn interrupts_are_the_clients_affair_and_its_shutdown_ends_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = as_plugin(folder.path()).spawn().expect("it starts");
    let channel = channel(handshake(&mut child).await[3].clone().into()).await;
    for name in ["INT", "HUP"] {
        signal(&child, name);
        asks(channel.clone()).await.expect("it goes on");
    }
    GrpcControllerClient::new(channel.clone()).shutdown(Empty {}).await.expect("it answers");
    assert_eq!(exit(&mut child).await, Some(0), "though a connection is still held");
    drop(channel);
}

#[tokio::test]
async fn a_termination_ends_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = as_plugin(folder.path()).spawn().expect("it starts");
    handshake(&mut child).await;
    signal(&child, "TERM");
    assert_eq!(exit(&mut child).await, Some(0));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[tokio::test]
async fn it_works_on_when_nobody_reads_what_it_logs() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = as_plugin(folder.path()).env("TF_LOG", "trace").spawn().expect("it starts");
    drop(child.stderr.take());
    let channel = channel(handshake(&mut child).await[3].clone().into()).await;
    let mut client = Client::over(channel.clone());
    for _ in 0..3 {
        client.rpc.stop_provider(wire::stop_provider::Request {}).await.expect("it answers");
    }
    drop((client, channel));
    assert_eq!(exit(&mut child).await, Some(0));
}

#[tokio::test]
async fn it_logs_as_clients_read_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = as_plugin(folder.path()).env("TF_LOG", "info").spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
    let mut client = Client::over(channel(handshake(&mut child).await[3].clone().into()).await);
    client.rpc.stop_provider(wire::stop_provider::Request {}).await.expect("it answers");
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("in time").expect("readable");
    let line: serde_json::Value = serde_json::from_str(&line.expect("a line comes")).expect("it is JSON");
    assert_eq!(
        (&line["@level"], &line["@message"]),
        (&"info".into(), &"Stopping, as the client asked".into())
    );
    let time = line["@timestamp"].as_str().expect("a time").to_owned();
    assert_eq!((time.len(), time.as_bytes()[19], time.as_bytes()[26]), (27, b'.', b'Z'), "{time}");
}

#[tokio::test]
async fn debugging_prints_where_clients_attach() {
    let mut child = program().arg("--debug").spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let export = loop {
        let line =
            tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("in time").expect("readable");
        if let Some(export) =
            line.expect("the line comes").trim().strip_prefix("export TF_REATTACH_PROVIDERS=")
        {
            break export.trim_matches('\'').to_owned();
        }
    };
    let attach: serde_json::Value = serde_json::from_str(&export).expect("it is JSON");
    let socket = attach["registry.opentofu.org/kontinuum/kontinuum"]["Addr"]["String"].clone();
    let socket = socket.as_str().expect("a socket").to_owned();
    for _ in 0..2 {
        asks(channel(socket.clone().into()).await).await.expect("one client after the other is served");
    }
    signal(&child, "INT");
    assert_eq!(exit(&mut child).await, Some(0));
}
