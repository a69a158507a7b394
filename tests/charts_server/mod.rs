//! Servers of charts for tests: one that answers as it is told and remembers what it was asked, and a real registry.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::allow_attributes, reason = "which part is unused differs from program to program")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a server answers.
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    length: Option<usize>,
    silent: bool,
}

impl Reply {
    pub(crate) fn ok(body: Vec<u8>) -> Self {
        Self { body, ..Self::status(200) }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), length: None, silent: false }
    }

    /// Nothing, for ever.
    pub(crate) fn silence() -> Self {
        Self { silent: true, ..Self::status(200) }
    }

    /// An answer that says it is that long.
    pub(crate) fn claiming(length: usize) -> Self {
        Self { length: Some(length), ..Self::status(200) }
    }

    pub(crate) fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// A server on this machine; ends when dropped.
pub(crate) struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_with(move |_| move |path: &str, _: &str| answer(path)).await
    }

    /// `make` gets the server's address and makes what answers a path and the request's head.
    pub(crate) async fn start_with<A>(make: impl FnOnce(&str) -> A) -> Self
    where
        A: Fn(&str, &str) -> Reply + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answer = Arc::new(make(&address));
        let remembered = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, asked) = (Arc::clone(&answer), Arc::clone(&remembered));
                tokio::spawn(async move { serve(stream, &*answer, &asked).await });
            }
        });
        Self { address, asked, task }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The paths that were asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("the paths").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(&str, &str) -> Reply + Send + Sync),
    asked: &Mutex<Vec<String>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
    asked.lock().expect("the paths").push(path.clone());
    let reply = answer(&path, &head);
    if reply.silent {
        // Held open until the other side gives up.
        let _ = stream.read_u8().await;
        return;
    }
    let length = reply.length.unwrap_or(reply.body.len());
    let mut text =
        format!("HTTP/1.1 {} -\r\ncontent-length: {length}\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.write_all(&reply.body).await;
    let _ = stream.shutdown().await;
}

/// A registry that gives nothing without a token. Its manifest promises `archive`, and it serves `served`.
pub(crate) async fn token_registry(
    repository: &str,
    version: &str,
    archive: Vec<u8>,
    served: Vec<u8>,
) -> Server {
    let digest = hexadecimal(&archive);
    let manifest = format!(
        r#"{{"schemaVersion":2,"config":{{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":"","size":0}},
        "layers":[{{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip","digest":"sha256:{digest}","size":1}}]}}"#
    );
    let manifests = format!("/v2/{repository}/manifests/{version}");
    let blobs = format!("/v2/{repository}/blobs/sha256:{digest}");
    Server::start_with(move |address| {
        let challenge = format!(
            r#"Bearer realm="http://{address}/token",service="lab",scope="repository:{repository}:pull""#
        );
        move |path: &str, head: &str| {
            if path.starts_with("/token") {
                return Reply::ok(br#"{"token":"open-sesame"}"#.to_vec());
            }
            if !head.to_ascii_lowercase().contains("authorization: bearer open-sesame") {
                return Reply::status(401).with("www-authenticate", challenge.clone());
            }
            if path == manifests {
                Reply::ok(manifest.clone().into_bytes())
            } else if path == blobs {
                Reply::ok(served.clone())
            } else {
                Reply::status(404)
            }
        }
    })
    .await
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A real registry, of Debian's package docker-registry; ends when dropped.
pub(crate) struct Registry {
    address: String,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Registry {
    pub(crate) fn start(program: &Path, address: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let address = format!("{address}:5000");
        let configuration = folder.path().join("configuration.yml");
        let text = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: {address}}}\n",
            folder.path().join("data").display()
        );
        std::fs::write(&configuration, text).expect("a configuration");
        let mut command = Command::new(program);
        command
            .arg("serve")
            .arg(&configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().expect("start the registry");
        Self { address, child, _folder: folder }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) async fn answers(&self) -> bool {
        TcpStream::connect(&self.address).await.is_ok()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
