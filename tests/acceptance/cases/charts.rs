//! The sources of charts themselves, judged by Helm: what is wrong here would look like a fault of the provider.

use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use tokio::process::Command;

use crate::charts::{ClassicRepository, Registry};
use crate::lab;
use crate::process::Running;
use crate::rig::Rig;

const CHART: &str = "cert-manager-v1.21.2";
const PULL: Duration = Duration::from_secs(60);

pub(crate) fn cases() -> Vec<Trial> {
    let missing = !Registry::is_available();
    let kind = if missing { "docker-registry is missing" } else { "helm" };
    vec![
        Trial::test("helm_finds_a_chart_in_the_classic_repository", classic).with_kind("helm"),
        Trial::test("helm_finds_a_chart_in_the_registry", registry)
            .with_kind(kind)
            .with_ignored_flag(missing),
    ]
}

fn classic() -> Result<(), Failed> {
    let rig = Rig::new(crate::client::Client::OpenTofu)?;
    rig.wait(async {
        let repository =
            ClassicRepository::serve(rig.address(2), &rig.folder().join("charts"), &[CHART]).await?;
        let chart = pull(&rig, &["cert-manager", "--version", "v1.21.2", "--repo", repository.url()]).await?;
        assert_eq!(chart, std::fs::read(lab::chart(CHART)?)?);
        assert_eq!(repository.requests(), ["/index.yaml", "/cert-manager-v1.21.2.tgz"]);
        Ok(())
    })
}

fn registry() -> Result<(), Failed> {
    let rig = Rig::new(crate::client::Client::OpenTofu)?;
    rig.wait(async {
        let registry = Registry::start(rig.address(3), &rig.folder().join("registry")).await?;
        registry.push(CHART).await?;
        let reference = format!("{}/cert-manager", registry.repository());
        let chart = pull(&rig, &[&reference, "--version", "v1.21.2", "--plain-http"]).await?;
        assert_eq!(chart, std::fs::read(lab::chart(CHART)?)?);
        Ok(())
    })
}

/// The archive that Helm fetches.
async fn pull(rig: &Rig, arguments: &[&str]) -> Result<Vec<u8>, Failed> {
    let folder = rig.folder().join("pulled");
    std::fs::create_dir_all(&folder)?;
    let mut pull = Command::new(lab::program("helm")?);
    pull.arg("pull").args(arguments).arg("--destination").arg(&folder).env("HOME", rig.folder().join("home"));
    Running::start(pull)?.end(PULL).await?.expect_code(0)?;
    Ok(std::fs::read(folder.join("cert-manager-v1.21.2.tgz"))?)
}
