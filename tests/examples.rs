//! The real client reads every example that the documentation shows: those below `examples/`, and those in the README.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// What comes before an example that does not say itself where the provider comes from.
const HEADER: &str = "terraform {\n  required_providers {\n    kontinuum = {\n      source = \"kontinuum/kontinuum\"\n    }\n  }\n}\n";

#[test]
fn every_example_is_a_valid_module() {
    let client = Client::new();
    let wrong: Vec<String> = examples().iter().filter_map(|example| client.problem(example)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_example_is_formatted() {
    let client = Client::new();
    let ended = client.run(&root().join("examples"), &["fmt", "-check", "-diff", "-recursive", "-no-color"]);
    assert!(ended.status.success(), "run `tofu fmt -recursive examples`:\n{}", said(&ended));
}

#[test]
fn an_example_with_a_wrong_attribute_is_found() {
    let wrong = Example {
        name: "wrong".to_owned(),
        module: "resource \"kontinuum_instance\" \"a\" {\n  name = \"a\"\n  interface = []\n}\n".to_owned(),
    };
    let problem = Client::new().problem(&wrong).expect("there is no attribute of that name");
    assert!(problem.contains("interface"), "{problem}");
}

/// Something that a page shows, as one module.
struct Example {
    name: String,
    module: String,
}

/// Each folder below `examples/` with files of the language, and each block of it in the README.
fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    let mut folders = vec![root().join("examples")];
    while let Some(folder) = folders.pop() {
        let mut module = String::new();
        for entry in folder.read_dir().expect("a folder of examples can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "tf") {
                module += &std::fs::read_to_string(&path).expect("an example can be read");
            }
        }
        if !module.is_empty() {
            examples.push(Example { name: folder.display().to_string(), module });
        }
    }
    let readme = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    for (index, block) in readme.split("```terraform\n").skip(1).enumerate() {
        let module = block.split("```").next().unwrap_or_default().to_owned();
        examples.push(Example { name: format!("README.md, block {}", index + 1), module });
    }
    assert!(examples.len() > 5, "there are examples");
    examples
}

/// The lab's OpenTofu with the provider under test.
struct Client {
    program: PathBuf,
    folder: TempDir,
}

impl Client {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let plugins = folder.path().join("plugins");
        std::fs::create_dir(&plugins).expect("made");
        let provider = env!("CARGO_BIN_EXE_terraform-provider-kontinuum");
        std::os::unix::fs::symlink(provider, plugins.join("terraform-provider-kontinuum")).expect("linked");
        let configuration = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"registry.opentofu.org/kontinuum/kontinuum\" = \"{}\"\n  }}\n}}\n",
            plugins.display()
        );
        std::fs::write(folder.path().join("client.tfrc"), configuration).expect("written");
        Self { program: tofu(), folder }
    }

    /// What the client says of an example that is not valid.
    fn problem(&self, example: &Example) -> Option<String> {
        let module = tempfile::tempdir_in(self.folder.path()).expect("a folder");
        let header = if example.module.contains("required_providers") { "" } else { HEADER };
        std::fs::write(module.path().join("main.tf"), format!("{header}{}", example.module))
            .expect("written");
        let ended = self.run(module.path(), &["validate", "-no-color"]);
        (!ended.status.success()).then(|| format!("{} is not valid: {}", example.name, said(&ended)))
    }

    fn run(&self, folder: &Path, arguments: &[&str]) -> Output {
        // No call of the client takes longer than its start: `timeout` ends one that hangs.
        Command::new("timeout")
            .args(["--kill-after=5", "60"])
            .arg(&self.program)
            .args(arguments)
            .current_dir(folder)
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("client.tfrc"))
            .env("CHECKPOINT_DISABLE", "1")
            .env_remove("TF_LOG")
            .output()
            .expect("timeout (coreutils) runs")
    }
}

fn said(ended: &Output) -> String {
    String::from_utf8_lossy(&[ended.stdout.as_slice(), &ended.stderr].concat()).into_owned()
}

/// A program that the lab builds.
fn tofu() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("KONTINUUM_LAB")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("kontinuum/lab")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/kontinuum/lab")))
        .expect("HOME is set");
    let program = folder.join("bin/tofu");
    assert!(program.exists(), "{} is missing: run `make lab`", program.display());
    program
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
