//! What the patches make of a machine's configuration, judged from the attributes alone, before there is any machine.
//!
//! A control plane and a worker of each pool are made up, and get what every such machine would get.

use super::super::report::chain;
use super::model::Cluster;
use super::parse::{Parsed, PoolSpec};
use crate::domain::machine_configuration::{
    Contract, Inputs, InstallTarget, Managed, NetworkPlugin, Patch, Role, SecretsBundle, Verdict,
    VirtualAddress, generate, installer_image, validate,
};
use crate::plugin::{Attr, Diagnostic, Diagnostics, List, Path};

/// Patches with the attribute that they stand in.
type Layer<'a> = (Path, &'a [String]);

/// Judges every kind of machine. Nothing is said as long as a patch is unknown: it may be what is missing.
pub(super) fn check(cluster: &Cluster, parsed: &Parsed) -> Diagnostics {
    let mut wrong = Judgement::default();
    let Ok(contract) = Contract::of_version(&parsed.talos_version.to_string()) else {
        return wrong.diagnostics;
    };
    if is_open(cluster) {
        return wrong.diagnostics;
    }
    let common = (Path::new("config_patches"), parsed.patches.as_slice());
    let plane = Path::new("control_plane").attribute("config_patches");
    let own = (plane, parsed.control_plane.patches.as_slice());
    wrong.judge(parsed, contract, Role::ControlPlane, &parsed.control_plane, &[common.clone(), own]);
    for (key, pool) in &parsed.workers {
        let path = Path::new("workers").key(key).attribute("config_patches");
        let own = (path, pool.patches.as_slice());
        wrong.judge(parsed, contract, Role::Worker, pool, &[common.clone(), own]);
    }
    wrong.diagnostics
}

fn is_open(cluster: &Cluster) -> bool {
    let open = |list: &Attr<List<String>>| {
        list.is_unknown() || list.known().into_iter().flatten().any(Attr::is_unknown)
    };
    let plane = match &cluster.control_plane {
        Attr::Known(plane) => open(&plane.config_patches),
        Attr::Null => false,
        Attr::Unknown => true,
    };
    let mut workers = cluster.workers.known().into_iter().flat_map(|workers| workers.values());
    cluster.talos_version.is_unknown()
        || cluster.cilium.is_unknown()
        || cluster.approve_kubelet_serving_certificates.is_unknown()
        || open(&cluster.config_patches)
        || plane
        || workers.any(|entry| entry.known().is_none_or(|entry| open(&entry.config_patches)))
}

#[derive(Default)]
struct Judgement {
    diagnostics: Diagnostics,
    /// What was said already, of another role.
    said: Vec<(Path, String)>,
}

impl Judgement {
    fn judge(
        &mut self,
        parsed: &Parsed,
        contract: Contract,
        role: Role,
        pool: &PoolSpec,
        layers: &[Layer<'_>],
    ) {
        let Ok(mut configuration) =
            generate(&inputs(parsed, role, pool), &SecretsBundle::placeholder(), contract)
        else {
            return;
        };
        let mut known = texts(&validate(&configuration, false));
        let managed = Managed { network_plugin: parsed.cilium.is_some(), hostname: true };
        let patches = layers.iter().flat_map(|(path, texts)| {
            texts.iter().enumerate().map(|(index, text)| (path.clone().index(index), text))
        });
        for (path, text) in patches {
            let Ok(patch) = Patch::parse(text) else { continue };
            match managed.patch(&configuration, std::slice::from_ref(&patch)) {
                Ok(patched) => configuration = patched.configuration,
                Err(error) => {
                    self.say(path, chain(&error.source));
                    continue;
                }
            }
            // The first patch after which it is wrong is the one that made it so.
            let verdict = validate(&configuration, false);
            let newer = configuration.newer_than(contract);
            if let Some(problem) = newer.first().or_else(|| verdict.errors.first()) {
                self.say(path, problem.to_string());
                return;
            }
            for warning in texts(&verdict) {
                if !known.contains(&warning) {
                    self.remark(path.clone(), &warning);
                    known.push(warning);
                }
            }
        }
    }

    fn remark(&mut self, path: Path, text: &str) {
        if self.said.iter().any(|(at, before)| *at == path && before == text) {
            return;
        }
        let summary = "a configuration patch may not do what it says";
        self.diagnostics.push(Diagnostic::warning(summary, format!("{path}: {text}.")).at(path.clone()));
        self.said.push((path, text.to_owned()));
    }

    fn say(&mut self, path: Path, text: String) {
        if self.said.iter().any(|(at, before)| *at == path && *before == text) {
            return;
        }
        self.diagnostics.push(
            Diagnostic::error(
                format!("{path} makes a configuration that can't work"),
                format!("{text}. It was judged as Talos would judge it; no machine was touched."),
            )
            .at(path.clone()),
        );
        self.said.push((path, text));
    }
}

fn texts(verdict: &Verdict) -> Vec<String> {
    verdict.warnings.iter().map(ToString::to_string).collect()
}

fn inputs(parsed: &Parsed, role: Role, pool: &PoolSpec) -> Inputs {
    let endpoint =
        parsed.endpoint.as_ref().map_or_else(|| "https://10.0.0.1:6443".to_owned(), ToString::to_string);
    let version = parsed.kubernetes_version.to_string();
    let mut inputs = Inputs::new(role, parsed.name.as_str(), &endpoint, &version);
    inputs.install_disk = Some(InstallTarget::Path("/dev/sda".to_owned()));
    inputs.installer_image = installer_image("", false, &parsed.talos_version.to_string());
    if parsed.cilium.is_some() {
        inputs.network_plugin = NetworkPlugin::None;
        inputs.kube_proxy = false;
    }
    inputs.schedule_on_control_planes = true;
    inputs.hostname = Some("machine".to_owned());
    inputs.provider_id = Some("kontinuum://machine".to_owned());
    inputs.serving_certificates = parsed.serving_certificates;
    match role {
        Role::ControlPlane => {
            inputs.virtual_address =
                parsed.vip.map(|address| VirtualAddress { address, link: "eth0".to_owned() });
        }
        Role::Worker => inputs.node_taints = pool.taints.clone(),
    }
    inputs
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn judged(common: &[&str], worker: &[&str]) -> String {
        let list =
            |texts: &[&str]| Attr::Known(texts.iter().map(|text| (*text).into()).collect::<List<String>>());
        let workers = super::super::model::Workers { config_patches: list(worker), ..Default::default() };
        let cluster = Cluster {
            name: "c".into(),
            talos_version: "v1.13.9".into(),
            kubernetes_version: "1.36.3".into(),
            config_patches: list(common),
            workers: Attr::Known([("w".to_owned(), Attr::Known(workers))].into()),
            ..Cluster::default()
        };
        check(&cluster, &cluster.parse().unwrap()).to_string()
    }

    #[test]
    fn a_mistake_in_the_common_patches_is_said_once_and_at_its_patch() {
        let said = judged(&["machine: {sysctls: {a: b}}", "machine: {type: worker}"], &[]);
        assert_eq!(
            said.matches("config_patches[1] makes a configuration that can't work").count(),
            1,
            "{said}"
        );
    }

    #[test]
    fn a_worker_s_own_mistake_is_at_its_own_patch() {
        let said = judged(&[], &["machine: {nodeTaints: {a: b:NoSchedule}}"]);
        assert!(said.contains("workers[\"w\"].config_patches[0]"), "{said}");
    }

    #[test]
    fn serving_certificates_that_nobody_would_approve_are_refused_with_the_attribute() {
        for patch in [
            "machine: {kubelet: {extraArgs: {rotate-server-certificates: \"true\"}}}",
            "machine: {kubelet: {extraConfig: {serverTLSBootstrap: true}}}",
        ] {
            let said = judged(&[patch], &[]);
            assert!(said.contains("config_patches[0]"), "{said}");
            assert!(said.contains("use approve_kubelet_serving_certificates"), "{said}");
        }
        assert_eq!(judged(&["machine: {sysctls: {a: b}}"], &[]), "");
    }

    #[test]
    fn what_works_and_does_less_than_it_says_is_a_warning_said_once() {
        let said = judged(&["machine: {install: {extensions: [{image: ghcr.io/a/b:1}]}}"], &[]);
        assert!(said.starts_with("Warning: "), "{said}");
        assert_eq!(said.matches("machine.install.extensions").count(), 1, "{said}");
    }
}
