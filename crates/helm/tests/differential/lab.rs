//! The judge: the lab's real `helm`, which each case is rendered with too, twice. Lines that differ between its two
//! runs (random texts, keys, certificates) are not compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use helm::{Capabilities, Chart, Environment, KubeVersion, NoCluster, Release, Values};

/// One rendering: a chart and what `helm template` is told.
#[derive(Clone, Default)]
pub(crate) struct Case {
    pub(crate) chart: PathBuf,
    /// YAML texts, the later over the earlier.
    pub(crate) values: Vec<String>,
    /// Expressions of `--set`.
    pub(crate) set: Vec<String>,
    /// Expressions of `--set-string`.
    pub(crate) set_string: Vec<String>,
    pub(crate) kube_version: Option<String>,
    pub(crate) api_versions: Vec<String>,
    pub(crate) is_upgrade: bool,
}

/// What a rendering gives: the text, or the error's text.
pub(crate) type Outcome = Result<String, String>;

impl Case {
    pub(crate) fn of(chart: impl Into<PathBuf>) -> Self {
        Self { chart: chart.into(), ..Self::default() }
    }

    pub(crate) fn values(mut self, yaml: &str) -> Self {
        self.values.push(yaml.to_owned());
        self
    }

    pub(crate) fn set(mut self, expression: &str) -> Self {
        self.set.push(expression.to_owned());
        self
    }

    /// Both render alike, or both refuse in the same words.
    #[track_caller]
    pub(crate) fn agrees(&self) -> Outcome {
        let theirs = self.theirs();
        let again = self.theirs();
        let ours = self.ours();
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => compare(ours, theirs, again.as_deref().unwrap_or_default()),
            (Err(ours), Err(theirs)) => assert_eq!(ours, theirs, "the errors differ (ours first)"),
            (Ok(ours), Err(theirs)) => panic!("helm refuses: {theirs}\nwe render:\n{ours}"),
            (Err(ours), Ok(theirs)) => panic!("we refuse: {ours}\nhelm renders:\n{theirs}"),
        }
        ours
    }

    /// Both refuse; the words may differ.
    #[track_caller]
    pub(crate) fn both_refuse(&self) -> String {
        let theirs = self.theirs().expect_err("helm should refuse");
        assert!(!theirs.is_empty());
        self.ours().expect_err("we should refuse")
    }

    fn ours(&self) -> Outcome {
        let chart = load(&self.chart).map_err(|error| error.to_string())?;
        let mut values = Values::new();
        for yaml in &self.values {
            values.merge(Values::from_yaml(yaml).map_err(|error| error.to_string())?);
        }
        for expression in &self.set {
            values.set(expression).map_err(|error| error.to_string())?;
        }
        for expression in &self.set_string {
            values.set_string(expression).map_err(|error| error.to_string())?;
        }
        let mut capabilities = Capabilities::offline();
        if let Some(version) = &self.kube_version {
            capabilities.kube_version = KubeVersion::parse(version).map_err(|error| error.to_string())?;
        }
        capabilities.api_versions.extend(self.api_versions.iter().cloned());
        let release = Release {
            name: "test".to_owned(),
            namespace: "space".to_owned(),
            revision: 1,
            is_upgrade: self.is_upgrade,
        };
        let environment = Environment { now: jiff::Timestamp::now(), seed: [7; 32] };
        let rendered = helm::render(&chart, &values, &release, &capabilities, &NoCluster, &environment)
            .map_err(|error| error.to_string())?;
        let mut text = format!("{}\n", format!("{}{}", rendered.crd_text, rendered.manifest_text).trim());
        for hook in &rendered.hooks {
            text.push_str(&format!("---\n# Source: {}\n{}\n", hook.manifest.path, hook.manifest.text));
        }
        Ok(text)
    }

    fn theirs(&self) -> Outcome {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(lab().join("bin/helm"));
        command.arg("template").arg("test").arg(&self.chart).args(["--namespace", "space", "--include-crds"]);
        for (index, yaml) in self.values.iter().enumerate() {
            let file = folder.path().join(format!("{index}.yaml"));
            std::fs::write(&file, yaml).expect("a file of values");
            command.arg("--values").arg(file);
        }
        let lists = [
            ("--set", &self.set),
            ("--set-string", &self.set_string),
            ("--api-versions", &self.api_versions),
        ];
        for (flag, expressions) in lists {
            for expression in expressions {
                command.args([flag, expression]);
            }
        }
        if let Some(version) = &self.kube_version {
            command.args(["--kube-version", version]);
        }
        if self.is_upgrade {
            command.arg("--is-upgrade");
        }
        // Only what it is told, and no time zone but UTC.
        command.env_clear().env("TZ", "UTC").env("HOME", folder.path());
        let output = command.output().unwrap_or_else(|error| {
            panic!("failed to run {}: {error}: run `make lab`", lab().join("bin/helm").display())
        });
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        if output.status.success() {
            return Ok(text(output.stdout));
        }
        let error = text(output.stderr);
        let start = error.find("Error: ").map_or(0, |start| start + "Error: ".len());
        let error = error[start..].trim_end();
        Err(error.trim_end_matches("\n\nUse --debug flag to render out invalid YAML").to_owned())
    }
}

/// The lab's folder.
pub(crate) fn lab() -> PathBuf {
    if let Some(lab) = std::env::var_os("KONTINUUM_LAB") {
        return lab.into();
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache.unwrap_or_else(home).join("kontinuum/lab")
}

/// A chart that the lab has fetched.
pub(crate) fn released(name: &str) -> PathBuf {
    let path = lab().join("charts").join(format!("{name}.tgz"));
    assert!(path.exists(), "{} is missing: run `make lab`", path.display());
    path
}

/// One of our own charts.
pub(crate) fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/charts").join(name)
}

fn load(path: &Path) -> Result<Chart, helm::LoadError> {
    if path.is_dir() {
        let mut files = BTreeMap::new();
        collect(path, path, &mut files);
        return Chart::from_files(files);
    }
    Chart::from_archive(&std::fs::read(path).expect("the chart's archive"))
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("the chart's folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("a path below the root").to_string_lossy().into_owned();
            files.insert(name, std::fs::read(&path).expect("a file"));
        }
    }
}

#[track_caller]
fn compare(ours: &str, theirs: &str, again: &str) {
    if ours == theirs {
        return;
    }
    let (our_lines, their_lines): (Vec<_>, Vec<_>) = (ours.lines().collect(), theirs.lines().collect());
    let other_lines: Vec<_> = again.lines().collect();
    for (index, their_line) in their_lines.iter().enumerate() {
        let is_random = other_lines.get(index) != Some(their_line);
        let our_line = our_lines.get(index);
        if our_line != Some(their_line) && !is_random {
            let start = index.saturating_sub(5);
            let context = their_lines[start..index].join("\n");
            panic!(
                "line {} differs after\n{context}\nhelm: {their_line}\nours: {}",
                index + 1,
                our_line.unwrap_or(&"<end>")
            );
        }
    }
    assert_eq!(our_lines.len(), their_lines.len(), "we render more: {:?}", our_lines.get(their_lines.len()));
    assert_eq!(ours.ends_with('\n'), theirs.ends_with('\n'));
}

/// A chart of one template, made for a test.
pub(crate) struct Inline {
    template: String,
    metadata: String,
    files: Vec<(String, Vec<u8>)>,
    values: Vec<String>,
    set: Vec<String>,
}

impl Inline {
    pub(crate) fn of(template: &str) -> Self {
        Self {
            template: template.to_owned(),
            metadata: String::new(),
            files: Vec::new(),
            values: Vec::new(),
            set: Vec::new(),
        }
    }

    /// A template whose lines may be anything: they become one text of a manifest.
    pub(crate) fn lines(lines: &str) -> Self {
        let indented: Vec<String> = lines.lines().map(|line| format!("  {line}")).collect();
        Self::of(&format!("text: |\n{}\n", indented.join("\n")))
    }

    /// Lines of `Chart.yaml`.
    pub(crate) fn metadata(mut self, yaml: &str) -> Self {
        self.metadata = yaml.to_owned();
        self
    }

    pub(crate) fn file(mut self, name: &str, data: &[u8]) -> Self {
        self.files.push((name.to_owned(), data.to_vec()));
        self
    }

    pub(crate) fn values(mut self, yaml: &str) -> Self {
        self.values.push(yaml.to_owned());
        self
    }

    pub(crate) fn set(mut self, expression: &str) -> Self {
        self.set.push(expression.to_owned());
        self
    }

    /// What we render.
    pub(crate) fn ours(&self) -> String {
        self.case(Case::ours).unwrap_or_else(|error| panic!("we refuse: {error}"))
    }

    /// Both render alike.
    #[track_caller]
    pub(crate) fn agrees(&self) {
        self.case(|case| case.agrees()).unwrap_or_else(|error| panic!("both refuse: {error}"));
    }

    /// Both refuse, in the same words.
    #[track_caller]
    pub(crate) fn refused(&self) -> String {
        self.case(|case| case.agrees()).expect_err("both should refuse")
    }

    /// Both refuse.
    #[track_caller]
    pub(crate) fn both_refuse(&self) -> String {
        self.case(Case::both_refuse)
    }

    #[track_caller]
    fn case<T>(&self, judge: impl FnOnce(&Case) -> T) -> T {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().join("inline");
        let write = |name: &str, data: &[u8]| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, data).expect("a file");
        };
        let metadata = format!("apiVersion: v2\nname: inline\nversion: 1.2.3\n{}\n", self.metadata);
        write("Chart.yaml", metadata.as_bytes());
        write("templates/a.yaml", self.template.as_bytes());
        for (name, data) in &self.files {
            write(name, data);
        }
        let case = Case { values: self.values.clone(), set: self.set.clone(), ..Case::of(root) };
        judge(&case)
    }
}
