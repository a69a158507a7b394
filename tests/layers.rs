//! Holds who may know whom (the map is in `src/lib.rs`), which Rust's modules do not hold by themselves.
//!
//! It reads source text: what it looks for are names, in code and not in comments.

use std::path::{Path, PathBuf};

/// What one part of the sources may not name.
struct Rule {
    /// Folder or file, below the root.
    part: &'static str,
    /// Modules of ours that it may name, itself aside.
    ours: &'static [&'static str],
    /// What it may not name of the outside, and why.
    never: &'static [(&'static str, &'static str)],
}

const IO: &[(&str, &str)] = &[
    ("tokio::", "does I/O"),
    ("tonic::", "does I/O"),
    ("kube::", "does I/O"),
    ("reqwest::", "does I/O"),
    ("hyper::", "does I/O"),
    ("rusqlite::", "does I/O"),
    ("std::fs", "does I/O"),
    ("std::env", "reads what no argument says"),
    ("std::process", "starts programs"),
    ("TcpStream", "does I/O"),
    ("async ", "decides, and waits for nothing"),
    ("Instant::now", "has no clock: time comes as an argument"),
    ("SystemTime::now", "has no clock: time comes as an argument"),
    ("Timestamp::now", "has no clock: time comes as an argument"),
    ("Zoned::now", "has no clock: time comes as an argument"),
    ("Uuid::new_v4", "has no randomness: it comes as an argument"),
];

const CLIENTS: &[(&str, &str)] = &[
    ("tonic::", "is a client's affair"),
    ("kube::", "is a client's affair"),
    ("talos_api::", "is a client's affair"),
    ("rusqlite::", "is a client's affair"),
];

const RULES: &[Rule] = &[
    Rule { part: "src/domain", ours: &[], never: IO },
    Rule { part: "src/converge", ours: &["domain"], never: CLIENTS },
    Rule {
        part: "src/plugin",
        ours: &[],
        never: &[("talos", "knows Terraform only"), ("kube::", "knows Terraform only")],
    },
    Rule { part: "src/clients/talos", ours: &["domain"], never: &[("kube::", "is another client's")] },
    Rule {
        part: "src/clients/kubernetes",
        ours: &["domain"],
        never: &[("talos_api::", "is another client's")],
    },
    Rule {
        part: "src/clients/charts",
        ours: &["domain"],
        never: &[("talos_api::", "is another client's"), ("kube::", "is another client's")],
    },
    Rule {
        part: "src/clients/inventory",
        ours: &["domain"],
        never: &[("talos_api::", "is another client's")],
    },
    Rule { part: "src/resources", ours: &["clients", "converge", "domain", "plugin"], never: &[] },
    Rule { part: "crates", ours: &[], never: &[("kontinuum::", "is of use without the provider")] },
    Rule {
        part: "crates/helm/src",
        ours: &[],
        never: &[
            ("cilium", "renders any chart alike"),
            ("cert-manager", "renders any chart alike"),
            ("cert_manager", "renders any chart alike"),
        ],
    },
];

/// Modules of `src/` that a rule can be about.
const MODULES: [&str; 6] = ["clients", "converge", "domain", "plugin", "provider", "resources"];

/// A file that has grown beyond this is two things.
const LONGEST: usize = 600;

#[test]
fn every_part_names_only_what_it_may_know() {
    let broken: Vec<String> = RULES
        .iter()
        .flat_map(|rule| files(rule.part).into_iter().flat_map(|file| breaches(rule, &file)))
        .collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn no_file_has_grown_beyond_reading() {
    let long: Vec<String> = ["src", "crates", "tests", "benches"]
        .into_iter()
        .flat_map(files)
        .filter_map(|file| {
            let lines = read(&file).lines().count();
            (lines > LONGEST).then(|| {
                format!("{} has {lines} lines, more than {LONGEST}: split it by meaning", file.display())
            })
        })
        .collect();
    assert!(long.is_empty(), "\n{}", long.join("\n"));
}

#[test]
fn a_domain_that_names_the_loop_a_client_or_a_clock_is_found() {
    let rule = &RULES[0];
    assert_eq!(breach(rule, "use crate::domain::{claim, seen};"), None);
    assert_eq!(breach(rule, "    // The loop is crate::converge."), None);
    assert!(breach(rule, "use crate::converge::Pace;").is_some());
    assert!(breach(rule, "use crate::{converge, domain};").is_some());
    assert!(breach(rule, "let now = Timestamp::now();").is_some());
    assert!(breach(rule, "pub async fn next() {").is_some());
}

#[test]
fn a_client_that_names_another_client_is_found() {
    let client = |part| {
        RULES
            .iter()
            .find(|rule| rule.part == part)
            .and_then(|rule| breach(rule, "use crate::clients::talos::Admin;"))
    };
    assert_eq!(client("src/clients/talos"), None);
    assert!(client("src/clients/kubernetes").is_some());
}

fn breaches(rule: &Rule, file: &Path) -> Vec<String> {
    let text = read(file);
    text.lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let why = breach(rule, line)?;
            let shown = file.strip_prefix(root()).unwrap_or(file).display();
            Some(format!("{shown}:{}: {} {why}: {}", index + 1, rule.part, line.trim()))
        })
        .collect()
}

/// What a line names that it may not.
fn breach(rule: &Rule, line: &str) -> Option<String> {
    let code = line.split("//").next().unwrap_or_default();
    let never = rule.never.iter().find(|(name, _)| names(code, name)).map(|(_, why)| (*why).to_owned());
    never.or_else(|| foreign(rule, code).map(|path| format!("may not know {path}")))
}

/// The first path of ours in a line that the rule does not allow.
fn foreign<'a>(rule: &Rule, code: &'a str) -> Option<&'a str> {
    let own = rule.part.strip_prefix("src/")?.replace('/', "::");
    let paths = code.match_indices("crate::").map(|(at, found)| &code[at + found.len()..]);
    paths.into_iter().find(|path| {
        let module = path.split(|character: char| !character.is_alphanumeric() && character != '_').next();
        let module = module.unwrap_or_default();
        // A group of modules in one line would go unseen when it is broken into several: one module a line.
        module.is_empty()
            || MODULES.contains(&module) && !rule.ours.contains(&module) && !path.starts_with(&own)
    })
}

/// Whether code names something, as a whole word from its beginning.
fn names(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        code[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric() && before != '_')
    })
}

fn files(part: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(part)];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
