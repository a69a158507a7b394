//! Configurations, good and bad, in the order in which they were recorded.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::lab::{Client, Outcome, Rack, client, generate, machines};

#[tokio::test]
async fn a_blank_machine_judges_configurations_as_recorded() {
    let rack = Rack::start(machines(154, 1)).await;
    let address = "127.0.154.11";
    let generated = generate(address, "v1.13").await;
    let good = generated.control_plane.expose();
    let blank = client(address, None);
    let applied = "Dry run summary:\nApplied configuration without a reboot (skipped in dry-run).\nConfig diff:\n\n--- a\n+++ b\n@@ -0,0 +1,";
    for (mode, answered) in
        [("AUTO", "NO_REBOOT"), ("NO_REBOOT", "NO_REBOOT"), ("REBOOT", "NO_REBOOT"), ("TRY", "TRY")]
    {
        let answer = dry_run(&blank, good, mode).await;
        assert_eq!((answer.code.as_str(), mode_of(&answer)), ("OK", answered), "{mode}");
        assert!(details(&answer).starts_with(applied), "{mode}: {}", details(&answer));
    }
    let staged = dry_run(&blank, good, "STAGED").await;
    let text = "Dry run summary:\nStaged configuration to be applied after the next reboot (skipped in dry-run).\nConfig diff:\n\n--- a\n+++ b\n@@ -0,0 +";
    assert_eq!(mode_of(&staged), "STAGED");
    assert!(details(&staged).starts_with(text));

    let without = |line: &str| good.lines().filter(|own| own.trim() != line).collect::<Vec<_>>().join("\n");
    // How many errors Talos' library finds depends on what stands in the configuration besides; the recorded one had
    // one less to find.
    let refused = [
        ("", "config not found"),
        (
            "[1, 2",
            "decode error: yaml: while parsing a flow sequence at <unknown position>: line 1: did not find expected ',' or ']'",
        ),
        (
            &good.replace("type: controlplane", "type: worker"),
            "1 error occurred:\n\t* v1alpha1.Config: 4 errors occurred:\n\t* etcd config is only allowed on control plane machines\n\t* cluster CA key is not allowed on non",
        ),
        (
            &without("type: controlplane"),
            "1 error occurred:\n\t* v1alpha1.Config: 4 errors occurred:\n\t* etcd config is only allowed on control plane machines\n\t* cluster CA key is not allowed on non",
        ),
        (
            &without("disk: /dev/sda"),
            "1 error occurred:\n\t* v1alpha1.Config: 1 error occurred:\n\t* either install disk or diskSelector should be defined\n\n\n\n",
        ),
        (
            &good.replacen("machine:\n", "machine:\n    nonsense: true\n", 1),
            "error decoding document /v1alpha1/ (line 1): unknown keys found during decoding:\nmachine:\n    nonsense: true\n",
        ),
        (
            &format!("{good}---\napiVersion: v1alpha1\nkind: NopeConfig\n"),
            "error decoding document v1alpha1/NopeConfig/ (line ",
        ),
    ];
    for (configuration, text) in refused {
        let answer = dry_run(&blank, configuration, "AUTO").await;
        assert_eq!(answer.code, "InvalidArgument", "{answer:?}");
        assert!(answer.text.starts_with(text), "expected {text:?}, got {:?}", answer.text);
    }
    let elsewhere = dry_run(&blank, &good.replace("/dev/sda", "/dev/sdz"), "AUTO").await;
    assert_eq!(mode_of(&elsewhere), "NO_REBOOT", "a disk that is not there is not refused");
    let partial = "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: \"off\"\nhostname: lone\n";
    let partial = dry_run(&blank, partial, "AUTO").await;
    assert!(details(&partial).starts_with(&format!("{applied}4 @@\n+apiVer")), "{}", details(&partial));
    let bad = blank.call("machine.MachineService/ApplyConfiguration", request(good, json!(9), false)).await;
    let incorrect = "incorrect mode '9' specified for the apply config call";
    assert_eq!((bad.code.as_str(), bad.text.as_str()), ("Unknown", incorrect));
    let applied =
        blank.call("machine.MachineService/ApplyConfiguration", request(good, json!("NO_REBOOT"), false));
    let applied = applied.await;
    assert_eq!(
        (mode_of(&applied), details(&applied)),
        ("NO_REBOOT", "Applied configuration without a reboot")
    );
    rack.listens_mutually("a", 2).await;
    let anonymous = blank.call("machine.MachineService/Version", json!({})).await;
    assert_eq!(anonymous.code, "Unavailable");
}

#[tokio::test]
async fn a_configured_machine_judges_the_next_configuration_as_recorded() {
    let rack = Rack::start(machines(155, 1)).await;
    let address = "127.0.155.11";
    let generated = generate(address, "v1.13").await;
    let good = generated.control_plane.expose();
    rack.configure("a", address, &generated.control_plane).await;
    let admin = client(address, Some(&generated.talosconfig));

    let same = dry_run(&admin, good, "AUTO").await;
    let unchanged = "Dry run summary:\nApplied configuration without a reboot (skipped in dry-run).\nConfig diff:\n\nNo changes.";
    assert_eq!((mode_of(&same), details(&same)), ("NO_REBOOT", unchanged));
    let sysctl = good.replacen("machine:\n", "machine:\n    sysctls:\n        vm.swappiness: \"10\"\n", 1);
    let live = dry_run(&admin, &sysctl, "AUTO").await;
    assert_eq!(mode_of(&live), "NO_REBOOT");
    assert!(details(&live).contains("Config diff:\n\n--- a\n+++ b\n@@"), "{}", details(&live));
    let file = "machine:\n    files:\n        - content: x\n          permissions: 0o644\n          path: /var/x\n          op: create\n";
    let files = good.replacen("machine:\n", file, 1);
    let reboots = dry_run(&admin, &files, "AUTO").await;
    let text = "Dry run summary:\nApplied configuration with a reboot (skipped in dry-run).\nConfig diff:\n\n--- a\n+++ b\n@@";
    assert_eq!(mode_of(&reboots), "REBOOT");
    assert!(details(&reboots).starts_with(text), "{}", details(&reboots));
    let refused = dry_run(&admin, &files, "NO_REBOOT").await;
    let text = "this config change can't be applied in immediate mode\ndiff:\n--- a\n+++ b\n@@";
    assert_eq!(refused.code, "InvalidArgument");
    assert!(refused.text.starts_with(text), "{}", refused.text);
    let partial = dry_run(
        &admin,
        "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: \"off\"\nhostname: lone\n",
        "AUTO",
    )
    .await;
    assert_eq!(
        partial.text,
        "the applied machine configuration doesn't contain v1alpha1 config, did you mean to patch the machine config instead?"
    );
    let bad = admin.call("machine.MachineService/ApplyConfiguration", request(good, json!(9), true)).await;
    let text = "Dry run summary:\nApplied configuration with a reboot (skipped in dry-run).\nConfig diff:\n\nNo changes.";
    assert_eq!((bad.code.as_str(), details(&bad)), ("OK", text));

    let apply = |text: &str, mode: &str| {
        let request = request(text, json!(mode), false);
        admin.call("machine.MachineService/ApplyConfiguration", request)
    };
    let live = apply(good, "NO_REBOOT").await;
    assert_eq!((mode_of(&live), details(&live)), ("NO_REBOOT", "Applied configuration without a reboot"));
    let live = apply(&sysctl, "AUTO").await;
    assert_eq!((mode_of(&live), details(&live)), ("NO_REBOOT", "Applied configuration without a reboot"));
    let staged = apply(&sysctl, "STAGED").await;
    let text = "Staged configuration to be applied after the next reboot";
    assert_eq!((mode_of(&staged), details(&staged)), ("STAGED", text));
    let rebooting = apply(&files, "AUTO").await;
    let text =
        "Applied configuration with a reboot: this config change can't be applied in immediate mode\ndiff:\n";
    assert_eq!(mode_of(&rebooting), "REBOOT");
    assert!(details(&rebooting).starts_with(text), "{}", details(&rebooting));
    rack.listens_mutually("a", 3).await;
}

/// A request as protobuf JSON.
fn request(configuration: &str, mode: Value, dry_run: bool) -> Value {
    json!({"data": STANDARD.encode(configuration), "mode": mode, "dry_run": dry_run})
}

async fn dry_run(client: &Client, configuration: &str, mode: &str) -> Outcome {
    client.call("machine.MachineService/ApplyConfiguration", request(configuration, json!(mode), true)).await
}

/// The mode that was answered; protobuf JSON leaves the first one out.
fn mode_of(outcome: &Outcome) -> &str {
    outcome.result["messages"][0]["mode"].as_str().unwrap_or("REBOOT")
}

fn details(outcome: &Outcome) -> &str {
    outcome.result["messages"][0]["mode_details"].as_str().unwrap_or_default()
}
