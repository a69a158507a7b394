//! A classic chart repository: an index and archives over HTTP.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use libtest_mimic::Failed;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::task::JoinHandle;

use crate::lab;
use crate::process::Running;

const INDEX: Duration = Duration::from_secs(30);

/// A served repository. It ends when this is dropped.
pub(crate) struct ClassicRepository {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
    server: JoinHandle<()>,
}

impl ClassicRepository {
    /// Serves the lab's charts of these names, with the index that Helm makes of them, on a free port of an address.
    pub(crate) async fn serve(address: Ipv4Addr, folder: &Path, charts: &[&str]) -> Result<Self, Failed> {
        std::fs::create_dir_all(folder)?;
        for name in charts {
            let copy = folder.join(format!("{name}.tgz"));
            std::fs::copy(lab::chart(name)?, copy)?;
        }
        let mut index = Command::new(lab::program("helm")?);
        index.args(["repo", "index"]).arg(folder);
        Running::start(index)?.end(INDEX).await?.expect_code(0)?;

        let listener = TcpListener::bind((address, 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let requests = Arc::new(Mutex::default());
        let server = tokio::spawn(accept(listener, folder.to_owned(), Arc::clone(&requests)));
        Ok(Self { url, requests, server })
    }

    /// What a user writes as `repository`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The paths asked for so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ClassicRepository {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn accept(listener: TcpListener, folder: PathBuf, requests: Arc<Mutex<Vec<String>>>) {
    while let Ok((connection, _)) = listener.accept().await {
        let (folder, requests) = (folder.clone(), Arc::clone(&requests));
        let answer = service_fn(move |request: Request<Incoming>| {
            let path = request.uri().path().to_owned();
            requests.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
            let response = file(&folder, &path);
            async { response }
        });
        // Ends with its connection.
        tokio::spawn(
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), answer),
        );
    }
}

fn file(folder: &Path, path: &str) -> http::Result<Response<Full<Bytes>>> {
    let name = path.trim_start_matches('/');
    let found = (!name.contains('/')).then(|| std::fs::read(folder.join(name)).ok()).flatten();
    let status = if found.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    Response::builder().status(status).body(Full::from(found.unwrap_or_default()))
}
