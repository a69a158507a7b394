//! The judge of machine configurations, judged with what Talos is known to say.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use simulator::configuration::{
    Apply, Disk, GenerationOptions, Judge, JudgeError, MachineType, SecretsBundle,
};

mod lab;

fn judge() -> Judge {
    Judge::new(lab::program("talos-configuration"))
}

fn options() -> GenerationOptions {
    GenerationOptions {
        cluster_name: "demo".to_owned(),
        endpoint: "https://127.0.30.11:6443".to_owned(),
        talos_version: "v1.13".to_owned(),
        kubernetes_version: "1.36.3".to_owned(),
        install_disk: "/dev/vda".to_owned(),
        cni: "none".to_owned(),
        ..GenerationOptions::default()
    }
}

#[tokio::test]
async fn a_generated_configuration_is_seen_whole() {
    let judge = judge();
    let generated = judge.generate(&options()).await.unwrap();
    let control_plane = generated.control_plane.expose().as_bytes();
    judge.validate(control_plane, false).await.unwrap();
    let seen = judge.decode(control_plane).await.unwrap().configuration.unwrap();
    assert_eq!(seen.machine.kind, MachineType::ControlPlane);
    assert!(seen.machine.hostname.stable);
    assert_eq!(seen.machine.kube_prism_port, Some(7445));
    assert_eq!(seen.cluster.network.api_server_ips, ["10.96.0.1"]);
    assert_eq!(seen.cluster.network.cni, "none");
    assert!(seen.cluster.ca.unwrap().key.expose().contains("PRIVATE KEY"));
    let worker = judge.decode(generated.worker.expose().as_bytes()).await.unwrap().configuration.unwrap();
    assert_eq!(worker.machine.kind, MachineType::Worker);
    assert!(worker.cluster.ca.unwrap().key.is_empty());
    assert!(worker.cluster.etcd.ca.is_none());
}

#[tokio::test]
async fn talos_own_words_come_back_for_a_wrong_configuration() {
    let judge = judge();
    let generated = judge.generate(&options()).await.unwrap();
    let unknown_key = format!("{}\nfoo: 1\n", generated.worker.expose());
    let refused = judge.decode(unknown_key.as_bytes()).await.unwrap_err();
    assert!(
        matches!(&refused, JudgeError::Refused(text) if text.contains("unknown keys found during decoding:\nfoo: 1")),
        "{refused}"
    );
    let patch = ["machine: {install: {$patch: delete}}".to_owned()];
    let no_install = judge.patch(generated.worker.expose().as_bytes(), &patch).await.unwrap();
    let refused = judge.validate(&no_install, false).await.unwrap_err();
    assert!(
        refused.to_string().contains(r#"install instructions are required in "metal" mode"#),
        "{refused}"
    );
    judge.validate(&no_install, true).await.unwrap();
}

#[tokio::test]
async fn a_selector_chooses_among_the_machine_s_disks() {
    let judge = judge();
    let selector = "machine: {install: {disk: \"\", diskSelector: {size: '>= 100GB', type: nvme}}}";
    let patched =
        GenerationOptions { install_disk: String::new(), patches: vec![selector.to_owned()], ..options() };
    let generated = judge.generate(&patched).await.unwrap();
    let disk = |path: &str, size_bytes, transport: &str| Disk {
        device_path: path.to_owned(),
        size_bytes,
        transport: transport.to_owned(),
        ..Disk::default()
    };
    let disks = [disk("/dev/sda", 200_000_000_000, "sata"), disk("/dev/nvme0n1", 500_000_000_000, "nvme")];
    let text = generated.worker.expose().as_bytes();
    assert_eq!(judge.validate_on_machine(text, false, &disks).await.unwrap().install_disks, ["/dev/nvme0n1"]);
    let refused = judge.validate_on_machine(text, false, &disks[..1]).await.unwrap_err();
    assert!(refused.to_string().contains("no disks matched the expression"), "{refused}");
}

#[tokio::test]
async fn only_some_fields_change_without_a_reboot() {
    let judge = judge();
    let generated = judge.generate(&options()).await.unwrap();
    let current = generated.worker.expose();
    let labelled =
        judge.patch(current.as_bytes(), &["machine: {nodeLabels: {tier: a}}".to_owned()]).await.unwrap();
    let live = judge.difference(current.as_bytes(), &labelled).await.unwrap();
    assert_eq!((live.apply, live.unchanged), (Apply::Live, false));
    let variables = judge.patch(current.as_bytes(), &["machine: {env: {A: b}}".to_owned()]).await.unwrap();
    let reboot = judge.difference(current.as_bytes(), &variables).await.unwrap();
    assert_eq!(reboot.apply, Apply::Reboot);
    assert!(reboot.reason.starts_with("this config change can't be applied in immediate mode\ndiff:\n"));
}

#[tokio::test]
async fn a_secrets_bundle_survives_a_round_and_a_broken_one_is_refused() {
    let judge = judge();
    let bundle = judge.new_secrets("v1.13").await.unwrap();
    let again = judge.load_secrets(&bundle).await.unwrap();
    assert_eq!(bundle.yaml, again.yaml);
    let broken = bundle.yaml.expose().replace("    id:", "    idd:");
    let refused =
        judge.load_secrets(&SecretsBundle { yaml: simulator::configuration::Secret::new(broken) }).await;
    assert!(refused.unwrap_err().to_string().contains("cluster.id is required"));
}
