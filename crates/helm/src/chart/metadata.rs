//! `Chart.yaml`: what a chart says about itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map as JsonMap, Value as Json};

use super::LoadError;
use super::fields::Reader;
use crate::version::Version;

/// What `Chart.yaml` (and, for charts of version 1, `requirements.yaml`) says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// The chart's name.
    pub name: String,
    /// The project's home page.
    pub home: String,
    /// Where the sources are.
    pub sources: Vec<String>,
    /// The chart's own version.
    pub version: String,
    /// One line for people.
    pub description: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Who maintains it.
    pub maintainers: Vec<Maintainer>,
    /// The URL of an icon.
    pub icon: String,
    /// `v1` or `v2`.
    pub api_version: String,
    /// Carried along, without meaning at the root.
    pub condition: String,
    /// Carried along, without meaning at the root.
    pub tags: String,
    /// The version of what the chart installs.
    pub app_version: String,
    /// Whether the chart should no longer be used.
    pub deprecated: bool,
    /// Free annotations.
    pub annotations: BTreeMap<String, String>,
    /// Which versions of Kubernetes it supports; empty for any.
    pub kube_version: String,
    /// The charts that it uses.
    pub dependencies: Vec<Dependency>,
    /// `application` (also when empty) or `library`.
    pub kind: String,
}

/// One who maintains a chart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Maintainer {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
    /// A page.
    pub url: String,
}

/// A chart that another one uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dependency {
    /// The name of the chart; after loading, of its alias.
    pub name: String,
    /// A constraint on its version; empty for any.
    pub version: String,
    /// Where it comes from.
    pub repository: String,
    /// Paths of values, comma separated; the first that is a boolean decides whether it is used.
    pub condition: String,
    /// Names below `tags` in the values that decide likewise, if no condition does.
    pub tags: Vec<String>,
    /// What condition and tags decided.
    pub enabled: bool,
    /// Which of its values the parent takes over.
    pub import_values: Vec<ImportValues>,
    /// The name it is used under; empty for its own.
    pub alias: String,
}

/// Values that a parent chart takes over from a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportValues {
    /// The table `exports.<name>`, into the parent's root.
    Exported(String),
    /// The table at `child`, into the parent's table at `parent`.
    Mapped {
        /// A path in the child's values.
        child: String,
        /// A path in the parent's values; `.` is the root.
        parent: String,
    },
}

impl Metadata {
    /// Reads `Chart.yaml`.
    pub(crate) fn parse(file: &'static str, text: &str) -> Result<Self, LoadError> {
        let mut metadata = Self::default();
        metadata.read(file, text)?;
        if metadata.api_version.is_empty() {
            "v1".clone_into(&mut metadata.api_version);
        }
        Ok(metadata)
    }

    /// Lays what a file says over what is there.
    pub(crate) fn read(&mut self, file: &'static str, text: &str) -> Result<(), LoadError> {
        let documents = crate::values::documents(text).map_err(|source| LoadError::Yaml { file, source })?;
        let Some(root) = documents.first() else { return Ok(()) };
        let reader = Reader::of(file);
        for (key, value) in reader.entries(root)? {
            let reader = reader.below(&key);
            match key.as_str() {
                "name" => self.name = reader.text(value)?,
                "home" => self.home = reader.text(value)?,
                "sources" => self.sources = reader.texts(value)?,
                "version" => self.version = reader.text(value)?,
                "description" => self.description = reader.text(value)?,
                "keywords" => self.keywords = reader.texts(value)?,
                "maintainers" => self.maintainers = reader.list(value, Maintainer::read)?,
                "icon" => self.icon = reader.text(value)?,
                "apiVersion" => self.api_version = reader.text(value)?,
                "condition" => self.condition = reader.text(value)?,
                "tags" => self.tags = reader.text(value)?,
                "appVersion" => self.app_version = reader.text(value)?,
                "deprecated" => self.deprecated = reader.boolean(value)?,
                "annotations" => self.annotations = reader.text_map(value)?,
                "kubeVersion" => self.kube_version = reader.text(value)?,
                "dependencies" => self.dependencies = reader.list(value, Dependency::read)?,
                "type" => self.kind = reader.text(value)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Cleans the texts and checks what Helm checks.
    pub(crate) fn validate(&mut self) -> Result<(), LoadError> {
        for text in [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ] {
            *text = sanitize(text);
        }
        self.sources.iter_mut().chain(&mut self.keywords).for_each(|text| *text = sanitize(text));
        let invalid = |message: String| Err(LoadError::Metadata(message));
        if self.name.is_empty() {
            return invalid("chart.metadata.name is required".to_owned());
        }
        if self.name == "." || self.name == ".." || self.name.contains('/') {
            return invalid(format!("chart.metadata.name {:?} is invalid", self.name));
        }
        if self.version.is_empty() {
            return invalid("chart.metadata.version is required".to_owned());
        }
        if Version::parse(&self.version).is_err() {
            return invalid(format!("chart.metadata.version {:?} is invalid", self.version));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return invalid("chart.metadata.type must be application or library".to_owned());
        }
        let mut names = BTreeSet::new();
        for dependency in &mut self.dependencies {
            dependency.validate()?;
            let key = if dependency.alias.is_empty() { &dependency.name } else { &dependency.alias };
            if !names.insert(key.clone()) {
                return invalid(format!("more than one dependency with name or alias {key:?}"));
            }
        }
        Ok(())
    }

    /// Whether the chart only lends templates to others.
    #[must_use]
    pub fn is_library(&self) -> bool {
        self.kind.eq_ignore_ascii_case("library")
    }

    /// As JSON, under the names of `Chart.yaml`, without what is empty: the form of release records.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut json = JsonMap::new();
        let mut text = |key: &str, value: &str| {
            if !value.is_empty() {
                json.insert(key.to_owned(), Json::from(value));
            }
        };
        text("name", &self.name);
        text("home", &self.home);
        text("version", &self.version);
        text("description", &self.description);
        text("icon", &self.icon);
        text("apiVersion", &self.api_version);
        text("condition", &self.condition);
        text("tags", &self.tags);
        text("appVersion", &self.app_version);
        text("kubeVersion", &self.kube_version);
        text("type", &self.kind);
        let mut other = |key: &str, present: bool, value: Json| {
            if present {
                json.insert(key.to_owned(), value);
            }
        };
        other("sources", !self.sources.is_empty(), Json::from(self.sources.clone()));
        other("keywords", !self.keywords.is_empty(), Json::from(self.keywords.clone()));
        other("deprecated", self.deprecated, Json::Bool(true));
        other("annotations", !self.annotations.is_empty(), serde_json::json!(self.annotations));
        let maintainers = self.maintainers.iter().map(Maintainer::to_json).collect();
        other("maintainers", !self.maintainers.is_empty(), Json::Array(maintainers));
        let dependencies = self.dependencies.iter().map(Dependency::to_json).collect();
        other("dependencies", !self.dependencies.is_empty(), Json::Array(dependencies));
        Json::Object(json)
    }
}

impl Maintainer {
    fn read(reader: &Reader, value: &yaml::Value) -> Result<Self, LoadError> {
        let mut maintainer = Self::default();
        for (key, value) in reader.entries(value)? {
            let reader = reader.below(&key);
            match key.as_str() {
                "name" => maintainer.name = sanitize(&reader.text(value)?),
                "email" => maintainer.email = sanitize(&reader.text(value)?),
                "url" => maintainer.url = sanitize(&reader.text(value)?),
                _ => {}
            }
        }
        Ok(maintainer)
    }

    fn to_json(&self) -> Json {
        let fields = [("name", &self.name), ("email", &self.email), ("url", &self.url)];
        let present = fields.into_iter().filter(|(_, value)| !value.is_empty());
        Json::Object(present.map(|(key, value)| (key.to_owned(), Json::from(value.as_str()))).collect())
    }
}

impl Dependency {
    fn read(reader: &Reader, value: &yaml::Value) -> Result<Self, LoadError> {
        let mut dependency = Self::default();
        for (key, value) in reader.entries(value)? {
            let reader = reader.below(&key);
            match key.as_str() {
                "name" => dependency.name = reader.text(value)?,
                "version" => dependency.version = reader.text(value)?,
                "repository" => dependency.repository = reader.text(value)?,
                "condition" => dependency.condition = reader.text(value)?,
                "tags" => dependency.tags = reader.texts(value)?,
                "enabled" => dependency.enabled = reader.boolean(value)?,
                "import-values" => dependency.import_values = reader.list(value, ImportValues::read)?,
                "alias" => dependency.alias = reader.text(value)?,
                _ => {}
            }
        }
        Ok(dependency)
    }

    fn validate(&mut self) -> Result<(), LoadError> {
        for text in [&mut self.name, &mut self.version, &mut self.repository, &mut self.condition] {
            *text = sanitize(text);
        }
        self.tags.iter_mut().for_each(|tag| *tag = sanitize(tag));
        let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        if !self.alias.chars().all(allowed) {
            let message = format!("dependency {:?} has disallowed characters in the alias", self.name);
            return Err(LoadError::Metadata(message));
        }
        Ok(())
    }

    fn to_json(&self) -> Json {
        let mut json = JsonMap::new();
        json.insert("name".to_owned(), Json::from(self.name.as_str()));
        json.insert("repository".to_owned(), Json::from(self.repository.as_str()));
        for (key, value) in
            [("version", &self.version), ("condition", &self.condition), ("alias", &self.alias)]
        {
            if !value.is_empty() {
                json.insert(key.to_owned(), Json::from(value.as_str()));
            }
        }
        if !self.tags.is_empty() {
            json.insert("tags".to_owned(), Json::from(self.tags.clone()));
        }
        if self.enabled {
            json.insert("enabled".to_owned(), Json::Bool(true));
        }
        if !self.import_values.is_empty() {
            let values = self.import_values.iter().map(ImportValues::to_json).collect();
            json.insert("import-values".to_owned(), Json::Array(values));
        }
        Json::Object(json)
    }
}

impl ImportValues {
    fn read(reader: &Reader, value: &yaml::Value) -> Result<Self, LoadError> {
        if let yaml::Value::String(name) = value {
            return Ok(Self::Exported(name.clone()));
        }
        let (mut child, mut parent) = (String::new(), String::new());
        for (key, value) in reader.entries(value)? {
            match key.as_str() {
                "child" => child = reader.below(&key).text(value)?,
                "parent" => parent = reader.below(&key).text(value)?,
                _ => {}
            }
        }
        Ok(Self::Mapped { child, parent })
    }

    fn to_json(&self) -> Json {
        match self {
            Self::Exported(name) => Json::from(name.as_str()),
            Self::Mapped { child, parent } => serde_json::json!({"child": child, "parent": parent}),
        }
    }
}

/// White space becomes a space, what cannot be printed goes.
fn sanitize(text: &str) -> String {
    let clean = |character: char| match character {
        character if character.is_whitespace() => Some(' '),
        character if character.is_control() => None,
        character => Some(character),
    };
    text.chars().filter_map(clean).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn yaml_1_1_scalars_become_texts_where_texts_are_expected() {
        let metadata = Metadata::parse("Chart.yaml", "name: y\nversion: 1.10\nappVersion: 1e3\n").unwrap();
        assert_eq!((metadata.name.as_str(), metadata.version.as_str()), ("true", "1.1"));
        assert_eq!((metadata.app_version.as_str(), metadata.api_version.as_str()), ("1000", "v1"));
    }

    #[test]
    fn a_wrong_type_is_named_with_its_path() {
        let error = Metadata::parse("Chart.yaml", "dependencies: [{name: [a]}]").unwrap_err();
        assert_eq!(error.to_string(), "Chart.yaml: dependencies.[0].name: expected a string");
    }

    #[test]
    fn a_chart_without_name_or_version_is_refused() {
        for text in
            ["version: 1.0.0", "name: a", "{name: a, version: x}", "{name: a, version: 1.0.0, type: x}"]
        {
            assert!(Metadata::parse("Chart.yaml", text).unwrap().validate().is_err(), "{text}");
        }
    }
}
