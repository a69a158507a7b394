//! Real Terraform and OpenTofu against the example provider in this process.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::connection::Running;

/// As long as a client takes on a slow machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

/// A program that the lab builds.
fn lab(name: &str) -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("KONTINUUM_LAB")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("kontinuum/lab")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/kontinuum/lab")))
        .expect("HOME is set");
    let program = folder.join("bin").join(name);
    assert!(program.exists(), "{} is missing: run `make lab`", program.display());
    program
}

/// Terraform, which cannot be built from modules, where it is installed.
fn terraform() -> Option<PathBuf> {
    let found = std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join("terraform"))
        .find(|file| file.is_file());
    if found.is_none() {
        eprintln!("skipped: terraform is not on PATH");
    }
    found
}

/// A root module and the client that works in it.
pub(crate) struct Root {
    folder: TempDir,
    program: PathBuf,
    reattach: String,
}

pub(crate) struct Ran {
    pub(crate) ok: bool,
    pub(crate) text: String,
}

impl Root {
    pub(crate) fn new(program: &Path, running: &Running) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("rc"), "disable_checkpoint = true\n").expect("written");
        Self { folder, program: program.to_path_buf(), reattach: running.reattach.clone() }
    }

    fn write(&self, resources: &str) {
        let text = format!(
            "terraform {{\n  required_providers {{\n    example = {{\n      source = \"example/example\"\n    }}\n  }}\n}}\n{resources}"
        );
        std::fs::write(self.folder.path().join("main.tf"), text).expect("written");
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(&self.program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("TF_REATTACH_PROVIDERS", &self.reattach)
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("rc"))
            .env("TF_IN_AUTOMATION", "1")
            .env("NO_COLOR", "1")
            .env_remove("TF_LOG")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(PATIENCE, output).await.expect("in time").expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        Ran { ok: output.status.success(), text: text.into_owned() }
    }

    async fn succeeds(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments).await;
        assert!(ran.ok, "{arguments:?}: {}", ran.text);
        ran.text
    }

    async fn fails(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments).await;
        assert!(!ran.ok, "{arguments:?}: {}", ran.text);
        ran.text
    }

    /// The attributes of the one thing in the state.
    async fn state(&self) -> Json {
        let shown: Json = serde_json::from_str(&self.succeeds(&["show", "-json"]).await).expect("it is JSON");
        let all = shown.pointer("/values/root_module/resources").and_then(Json::as_array);
        let thing = all.into_iter().flatten().find(|one| one["address"] == "example_thing.a");
        thing.expect("the thing is in the state")["values"].clone()
    }
}

const APPLY: &[&str] = &["apply", "-auto-approve", "-no-color"];
/// Exit code 0 only if there is nothing to do.
const EMPTY: &[&str] = &["plan", "-detailed-exitcode", "-no-color"];

async fn a_whole_life(program: PathBuf) {
    let running = Running::start();
    let root = Root::new(&program, &running);
    root.write(
        r#"
        variable "size" { default = 2 }
        resource "example_thing" "a" {
          name      = "a"
          size      = var.size
          ratio     = 1 / 3
          token     = "hunter2"
          labels    = { x = "y" }
          addresses = [data.example_echo.e.lines[0]]
          limits    = {}
          parts     = { p = { kind = "wheel" }, q = { kind = "door" } }
        }
        data "example_echo" "e" { text = "hello" }
        output "members" { value = example_thing.a.members[*].name }
        output "serial" { value = example_thing.a.parts["p"].serial }
        "#,
    );
    let plan = root.succeeds(&["plan", "-no-color"]).await;
    assert!(plan.contains("(sensitive value)") && !plan.contains("hunter2"), "{plan}");
    let applied = root.succeeds(APPLY).await;
    assert!(applied.contains("serial = \"serial of p\""), "{applied}");
    let state = root.state().await;
    assert_eq!(
        (&state["uid"], &state["members"], &state["limits"], &state["addresses"]),
        (
            &json!("4711"),
            &json!([{ "name": "m0" }, { "name": "m1" }]),
            &json!({ "create": "10m" }),
            &json!(["hello from here"])
        )
    );
    root.succeeds(EMPTY).await;
    root.succeeds(&["apply", "-refresh-only", "-auto-approve", "-no-color"]).await;
    root.succeeds(EMPTY).await;

    let grown = root.succeeds(&["apply", "-auto-approve", "-no-color", "-var=size=3"]).await;
    assert!(grown.contains("1 changed, 0 destroyed"), "{grown}");
    assert_eq!(root.state().await["members"].as_array().map(Vec::len), Some(3));

    let destroyed = root.succeeds(&["destroy", "-auto-approve", "-no-color"]).await;
    assert!(destroyed.contains("Warning: a thing goes") && destroyed.contains("1 destroyed"), "{destroyed}");
    running.end().await;
}

async fn failures(program: PathBuf) {
    let running = Running::start();
    let root = Root::new(&program, &running);
    let write = |name: &str, mode: &str, size: u64| {
        root.write(&format!(
            "resource \"example_thing\" \"a\" {{\n  name = \"{name}\"\n  mode = \"{mode}\"\n  size = {size}\n}}\n"
        ));
    };
    write("", "", 1);
    let invalid = root.fails(&["validate", "-no-color"]).await;
    assert!(invalid.contains("Error: a thing needs a name") && invalid.contains("name = \"\""), "{invalid}");

    for (mode, message) in [
        ("fails", "Error: the thing cannot be made"),
        ("panics", "Error: the provider crashed in ApplyResourceChange"),
        ("lies", "Error: the provider made something else than what was planned"),
    ] {
        write("a", mode, 1);
        let failed = root.fails(APPLY).await;
        assert!(failed.contains(message) && !failed.contains("inconsistent"), "{failed}");
        assert_eq!(root.succeeds(&["state", "list"]).await, "", "nothing is recorded, so nothing is tainted");
    }

    write("a", "", 1);
    root.succeeds(APPLY).await;
    write("a", "fails and shows", 4);
    root.fails(APPLY).await;
    let state = root.state().await;
    assert_eq!((&state["uid"], &state["size"], &state["mode"]), (&json!("seen"), &json!(1), &json!("")));
    let again = root.run(EMPTY).await;
    assert!(again.text.contains("1 to change"), "the work is planned again: {}", again.text);
    running.end().await;
}

async fn import_and_replacement(program: PathBuf) {
    let running = Running::start();
    let root = Root::new(&program, &running);
    root.write("resource \"example_thing\" \"a\" {\n  name = \"old\"\n}\n");
    let missing = root.fails(&["import", "-no-color", "example_thing.a", "nothing"]).await;
    assert!(missing.contains("there is no such thing"), "{missing}");
    root.succeeds(&["import", "-no-color", "example_thing.a", "old"]).await;
    root.succeeds(EMPTY).await;
    root.write("resource \"example_thing\" \"a\" {\n  name = \"new\"\n}\n");
    let plan = root.succeeds(&["plan", "-no-color"]).await;
    assert!(plan.contains("# forces replacement") && plan.contains("1 to add, 0 to change, 1 to destroy"));
    root.succeeds(APPLY).await;
    assert_eq!(root.state().await["name"], "new");
    running.end().await;
}

macro_rules! with_each_client {
    ($($case:ident),*) => {
        mod opentofu {
            $(#[tokio::test] async fn $case() { super::$case(super::lab("tofu")).await; })*
        }
        mod oldest_opentofu {
            $(#[tokio::test] async fn $case() { super::$case(super::lab("tofu-1.6")).await; })*
        }
        mod terraform {
            $(#[tokio::test] async fn $case() {
                if let Some(program) = super::terraform() { super::$case(program).await; }
            })*
        }
    };
}

with_each_client!(a_whole_life, failures, import_and_replacement);

/// The schema as a real client understood it.
pub(crate) async fn schema_of_example() -> Json {
    let running = Running::start();
    let root = Root::new(&lab("tofu"), &running);
    root.write("");
    let text = root.succeeds(&["providers", "schema", "-json"]).await;
    running.end().await;
    let all: Json = serde_json::from_str(&text).expect("it is JSON");
    let schemas = all["provider_schemas"].as_object().expect("there are schemas");
    schemas.values().next().cloned().expect("there is one provider")
}
