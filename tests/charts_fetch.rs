//! Fetching charts: from a repository whose index real Helm wrote, from a real OCI registry into which real Helm
//! pushed, from servers that misbehave, and from this machine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod charts_server;
mod kubernetes_rig;

use std::path::Path;
use std::time::Duration;

use charts_server::{Reply, Server};
use kontinuum::clients::charts::{Cause, Charts, Limits};
use kubernetes_rig::{chart, eventually, free_address, program, run_in};

const CILIUM: [&str; 3] = ["1.18.6", "1.19.7", "1.20.2"];

fn charts() -> Charts {
    let limits =
        Limits { request: Duration::from_secs(20), pause: Duration::from_millis(10), ..Limits::default() };
    Charts::new(limits).unwrap()
}

/// A folder of archives with the index that Helm writes for it.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for version in CILIUM {
        let name = format!("cilium-{version}");
        std::fs::copy(chart(&name), folder.path().join(format!("{name}.tgz"))).unwrap();
    }
    run_in(folder.path(), "helm", &["repo", "index", "."]);
    folder
}

fn files(folder: &Path) -> impl Fn(&str) -> Reply + Send + Sync + use<> {
    let folder = folder.to_owned();
    move |path| match std::fs::read(folder.join(path.trim_start_matches('/'))) {
        Ok(content) => Reply::ok(content),
        Err(_) => Reply::status(404),
    }
}

#[tokio::test]
async fn a_repository_gives_the_version_that_is_asked_for_and_is_asked_once() {
    let folder = repository();
    let server = Server::start(files(folder.path())).await;
    let charts = charts();
    for (wanted, version) in
        [("1.19.7", "1.19.7"), ("~1.18.0", "1.18.6"), ("", "1.20.2"), (">=1.18 <1.20", "1.19.7")]
    {
        let fetched = charts.fetch(&server.url(), "cilium", wanted).await.unwrap();
        assert_eq!(fetched.version, version, "{wanted}");
        assert_eq!(fetched.chart.metadata().name, "cilium");
    }
    charts.fetch(&server.url(), "cilium", "1.19.7").await.unwrap();
    let asked = server.asked();
    assert_eq!(asked.iter().filter(|path| path.as_str() == "/index.yaml").count(), 1, "{asked:?}");
    assert_eq!(asked.iter().filter(|path| path.as_str() == "/cilium-1.18.6.tgz").count(), 1, "{asked:?}");

    let missing = charts.fetch(&server.url(), "cilium", "9.9.9").await.unwrap_err();
    assert!(
        matches!(missing.cause(), Cause::NoVersion { newest, .. } if newest.starts_with("1.20.2")),
        "{missing:?}"
    );
    let unknown = charts.fetch(&server.url(), "istio", "").await.unwrap_err();
    assert!(matches!(unknown.cause(), Cause::NoChart { .. }), "{unknown:?}");
}

#[tokio::test]
async fn an_archive_that_is_not_what_the_index_promised_is_refused() {
    let folder = repository();
    std::fs::copy(folder.path().join("cilium-1.19.7.tgz"), folder.path().join("cilium-1.20.2.tgz")).unwrap();
    let server = Server::start(files(folder.path())).await;
    let error = charts().fetch(&server.url(), "cilium", "1.20.2").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Digest { .. }), "{error:?}");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_server_that_fails_twice_is_asked_three_times_and_no_more() {
    let folder = repository();
    let good = files(folder.path());
    let failing = std::sync::atomic::AtomicU32::new(2);
    let server = Server::start(move |path| {
        let left = failing.fetch_update(
            std::sync::atomic::Ordering::SeqCst,
            std::sync::atomic::Ordering::SeqCst,
            |left| left.checked_sub(1),
        );
        if left.is_ok() { Reply::status(503) } else { good(path) }
    });
    let server = server.await;
    charts().fetch(&server.url(), "cilium", "1.20.2").await.unwrap();

    let broken = Server::start(|_| Reply::status(500)).await;
    let error = charts().fetch(&broken.url(), "cilium", "1.20.2").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Status { status: 500, .. }), "{error:?}");
    assert!(error.is_transient());
    assert_eq!(broken.asked().len(), 3);
}

#[tokio::test]
async fn a_silent_server_and_an_endless_answer_are_bounded() {
    let silent = Server::start(|_| Reply::silence()).await;
    let limits = Limits { request: Duration::from_millis(300), attempts: 1, ..Limits::default() };
    let error = Charts::new(limits).unwrap().fetch(&silent.url(), "cilium", "").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unreachable { .. }), "{error:?}");

    let endless = Server::start(|_| Reply::claiming(1 << 30)).await;
    let error = charts().fetch(&endless.url(), "cilium", "").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn a_page_that_is_no_index_and_a_login_are_told_apart() {
    let page = Server::start(|_| Reply::ok(b"<html>not found</html>".to_vec())).await;
    let error = charts().fetch(&page.url(), "cilium", "").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unreadable { .. }), "{error:?}");
    let locked = Server::start(|_| Reply::status(401)).await;
    let error = charts().fetch(&locked.url(), "cilium", "").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::LoginRequired(_)), "{error:?}");
}

#[tokio::test]
async fn a_real_registry_gives_charts_by_version_range_and_digest() {
    let registry = charts_server::Registry::start(&program("docker-registry"), &free_address());
    eventually("the registry answers", Duration::from_secs(60), async || {
        registry.answers().await.then_some(())
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let mut pushed = String::new();
    for version in CILIUM {
        let archive = chart(&format!("cilium-{version}")).display().to_string();
        let target = format!("oci://{}/charts", registry.address());
        pushed = run_in(folder.path(), "helm", &["push", &archive, &target, "--plain-http"]);
    }
    let charts = charts();
    let source = format!("oci://{}/charts", registry.address());
    for (wanted, version) in [("1.19.7", "1.19.7"), ("1.19.x", "1.19.7"), ("", "1.20.2")] {
        let fetched = charts.fetch(&source, "cilium", wanted).await.unwrap();
        assert_eq!(fetched.version, version, "{wanted}");
    }
    // Helm's push names the digest of the manifest, here of the last one.
    let digest = pushed.split("sha256:").nth(1).unwrap().get(..64).unwrap();
    let pinned = format!("{source}/cilium@sha256:{digest}");
    assert_eq!(charts.fetch(&pinned, "cilium", "").await.unwrap().version, "1.20.2");
    let other = format!("{source}/cilium@sha256:{}", "0".repeat(64));
    let error = charts.fetch(&other, "cilium", "").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Status { status: 404, .. }), "{error:?}");
    let missing = charts.fetch(&source, "cilium", "2.0.0").await.unwrap_err();
    assert!(matches!(missing.cause(), Cause::NoVersion { .. }), "{missing:?}");
}

#[tokio::test]
async fn a_registry_that_asks_for_a_token_gets_one_for_pulling_this_repository() {
    let archive = std::fs::read(chart("cilium-1.20.2")).unwrap();
    let server = charts_server::token_registry("charts/cilium", "1.20.2", archive.clone(), archive).await;
    let source = format!("oci://{}/charts", server.address());
    let fetched = charts().fetch(&source, "cilium", "1.20.2").await.unwrap();
    assert_eq!(fetched.version, "1.20.2");
    let token = server.asked().into_iter().find(|path| path.starts_with("/token")).unwrap();
    assert!(token.contains("scope=repository%3Acharts%2Fcilium%3Apull"), "{token}");
    assert!(token.contains("service=lab"), "{token}");
}

#[tokio::test]
async fn a_layer_that_is_not_what_the_manifest_promised_is_refused() {
    let archive = std::fs::read(chart("cilium-1.20.2")).unwrap();
    let other = std::fs::read(chart("cilium-1.19.7")).unwrap();
    let server = charts_server::token_registry("charts/cilium", "1.20.2", archive, other).await;
    let source = format!("oci://{}/charts/cilium", server.address());
    let error = charts().fetch(&source, "cilium", "1.20.2").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Digest { .. }), "{error:?}");
}

#[tokio::test]
async fn charts_on_this_machine_are_a_folder_an_archive_or_a_folder_of_archives() {
    let folder = repository();
    let archive = folder.path().join("cilium-1.20.2.tgz").display().to_string();
    let unpacked = tempfile::tempdir().unwrap();
    run_in(unpacked.path(), "tar", &["xzf", &archive]);
    let sources = [
        archive.clone(),
        folder.path().display().to_string(),
        unpacked.path().join("cilium").display().to_string(),
    ];
    for source in sources {
        let fetched = charts().fetch(&source, "cilium", "1.20.2").await.unwrap();
        assert_eq!(fetched.version, "1.20.2", "{source}");
    }
    let error = charts().fetch(&archive, "cilium", "1.19.7").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::OtherVersion { .. }), "{error:?}");
    let error = charts().fetch("/nowhere/at/all", "cilium", "").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::File { .. }), "{error:?}");
}
