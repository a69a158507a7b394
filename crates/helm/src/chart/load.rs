//! Sorting a chart's files into what they are for.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::archive::{File, MAX_CHART, unpack, without_mark};
use super::ignore::Rules;
use super::metadata::Metadata;
use super::{Chart, LoadError, digest};
use crate::values::Values;

/// The largest file of a folder, in bytes: Helm's own limit.
const MAX_FILE: usize = 5 * 1024 * 1024;

/// How deep sub-charts may nest.
const MAX_NESTING: usize = 16;

/// Loads the files of an archive.
pub(crate) fn from_archive(archive: &[u8]) -> Result<Chart, LoadError> {
    let mut remaining = MAX_CHART;
    from_files(unpack(archive, &mut remaining)?, 0, &mut remaining)
}

/// Loads the files of a folder, in the order in which a walk through it finds them.
pub(crate) fn from_folder(files: BTreeMap<String, Vec<u8>>) -> Result<Chart, LoadError> {
    let rules = match files.get(".helmignore") {
        Some(data) => text(".helmignore", data)?,
        None => "",
    };
    let rules = Rules::parse(rules.trim_start_matches('\u{feff}'))?;
    let kept: Vec<String> =
        rules.keep(files.keys().map(String::as_str)).into_iter().map(str::to_owned).collect();
    let mut files = files;
    let mut loaded = Vec::new();
    let mut remaining = MAX_CHART;
    for name in kept {
        let Some(data) = files.remove(&name) else { continue };
        if data.len() > MAX_FILE {
            return Err(LoadError::FileTooLarge { path: name, limit: MAX_FILE });
        }
        remaining = remaining.checked_sub(data.len() as u64).ok_or(LoadError::TooLarge(MAX_CHART))?;
        loaded.push(File { name, data: without_mark(&data).into() });
    }
    loaded.sort_by(|left, right| left.name.split('/').cmp(right.name.split('/')));
    from_files(loaded, 0, &mut remaining)
}

/// Loads a chart from its files; archives among them take what they unpack from `remaining` (bytes).
fn from_files(files: Vec<File>, depth: usize, remaining: &mut u64) -> Result<Chart, LoadError> {
    if depth > MAX_NESTING {
        return Err(LoadError::TooDeep(MAX_NESTING));
    }
    let digest = digest(&files);
    let mut metadata = None;
    for file in files.iter().filter(|file| file.name == "Chart.yaml") {
        metadata = Some(Metadata::parse("Chart.yaml", text("Chart.yaml", &file.data)?)?);
    }
    let mut metadata = metadata.ok_or(LoadError::NoMetadata)?;
    let mut sorted = Sorted::default();
    for file in files {
        sorted.take(file, &mut metadata)?;
    }
    metadata.validate()?;
    let mut dependencies = Vec::new();
    for (name, files) in sorted.subcharts {
        if let Some(subchart) = subchart(&name, files, depth, remaining) {
            let parent = metadata.name.clone();
            let nested = |source| LoadError::Subchart { name, parent, source: Box::new(source) };
            dependencies.push(subchart.map_err(nested)?);
        }
    }
    Ok(Chart {
        metadata,
        values: sorted.values,
        schema: sorted.schema,
        templates: sorted.templates,
        files: sorted.files,
        dependencies,
        digest,
    })
}

/// A chart's files by what they are for.
#[derive(Default)]
struct Sorted {
    values: Values,
    schema: Option<Arc<[u8]>>,
    templates: Vec<File>,
    files: Vec<File>,
    subcharts: BTreeMap<String, Vec<File>>,
}

impl Sorted {
    fn take(&mut self, file: File, metadata: &mut Metadata) -> Result<(), LoadError> {
        let version_1 = metadata.api_version == "v1";
        match file.name.as_str() {
            "Chart.yaml" | "Chart.lock" => {}
            "values.yaml" => {
                let yaml = text("values.yaml", &file.data)?;
                self.values = Values::from_yaml(yaml).map_err(LoadError::Values)?;
            }
            "values.schema.json" => self.schema = Some(file.data),
            "requirements.yaml" => {
                metadata.read("requirements.yaml", text("requirements.yaml", &file.data)?)?;
                if version_1 {
                    self.files.push(file);
                }
            }
            "requirements.lock" if !version_1 => {}
            name if name.starts_with("templates/") => self.templates.push(file),
            name if name.starts_with("charts/") && !name.ends_with(".prov") => {
                let inner = name["charts/".len()..].to_owned();
                let chart = inner.split('/').next().unwrap_or_default().to_owned();
                self.subcharts.entry(chart).or_default().push(File { name: inner, data: file.data });
            }
            _ => self.files.push(file),
        }
        Ok(())
    }
}

/// A sub-chart in an archive or a folder; nothing for what is hidden.
fn subchart(
    name: &str,
    files: Vec<File>,
    depth: usize,
    remaining: &mut u64,
) -> Option<Result<Chart, LoadError>> {
    if name.starts_with(['_', '.']) {
        return None;
    }
    if name.ends_with(".tgz") {
        let archive = files.into_iter().find(|file| file.name == name)?;
        let files = unpack(&archive.data, remaining);
        return Some(files.and_then(|files| from_files(files, depth + 1, remaining)));
    }
    let below = |file: File| {
        let (_, inner) = file.name.split_once('/')?;
        Some(File { name: inner.to_owned(), data: file.data })
    };
    Some(from_files(files.into_iter().filter_map(below).collect(), depth + 1, remaining))
}

fn text<'data>(name: &str, data: &'data [u8]) -> Result<&'data str, LoadError> {
    std::str::from_utf8(data).map_err(|_| LoadError::NotText(name.to_owned()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::archive::tests::pack;
    use super::*;

    const CHART: &[u8] = b"apiVersion: v2\nname: c\nversion: 1.0.0\n";

    #[test]
    fn a_folder_and_its_archive_are_the_same_chart() {
        let files = [("Chart.yaml", CHART), ("values.yaml", b"a: 1".as_slice()), ("templates/a.yaml", b"x")];
        let folder = files.iter().map(|(name, data)| ((*name).to_owned(), data.to_vec())).collect();
        let names: Vec<String> = files.iter().map(|(name, _)| format!("c/{name}")).collect();
        let packed: Vec<(&str, &[u8])> =
            names.iter().zip(files).map(|(name, (_, data))| (name.as_str(), data)).collect();
        let (folder, archive) =
            (Chart::from_files(folder).unwrap(), Chart::from_archive(&pack(&packed)).unwrap());
        assert_eq!(folder.digest(), archive.digest());
        assert_eq!(folder.templates, archive.templates);
    }

    #[test]
    fn subcharts_come_from_folders_and_archives_and_hidden_ones_do_not() {
        let inner = pack(&[("d/Chart.yaml", b"name: d\nversion: 2.0.0")]);
        let chart = Chart::from_archive(&pack(&[
            ("c/Chart.yaml", CHART),
            ("c/charts/d-2.0.0.tgz", &inner),
            ("c/charts/e/Chart.yaml", b"name: e\nversion: 1.0.0"),
            ("c/charts/README", b"not a chart"),
            ("c/charts/_f/Chart.yaml", b"name: f\nversion: 1.0.0"),
        ]));
        // A bare file in charts/ counts as a chart without metadata, as in Helm.
        let error = chart.unwrap_err();
        assert!(matches!(&error, LoadError::Subchart { name, .. } if name == "README"), "{error:?}");
        let chart = Chart::from_archive(&pack(&[
            ("c/Chart.yaml", CHART),
            ("c/charts/d-2.0.0.tgz", &inner),
            ("c/charts/e/Chart.yaml", b"name: e\nversion: 1.0.0"),
            ("c/charts/_f/Chart.yaml", b"name: f\nversion: 1.0.0"),
        ]))
        .unwrap();
        let names: Vec<_> = chart.dependencies().iter().map(|chart| chart.metadata().name.as_str()).collect();
        assert_eq!(names, ["d", "e"]);
    }

    #[test]
    fn a_chart_without_metadata_is_refused() {
        assert!(matches!(Chart::from_files(BTreeMap::new()), Err(LoadError::NoMetadata)));
    }

    #[test]
    fn archives_within_archives_end_somewhere() {
        let mut inner = pack(&[("c/Chart.yaml", CHART)]);
        for _ in 0..=MAX_NESTING {
            inner = pack(&[("c/Chart.yaml", CHART), ("c/charts/c.tgz", &inner)]);
        }
        let mut error = &Chart::from_archive(&inner).unwrap_err();
        while let LoadError::Subchart { source, .. } = error {
            error = source;
        }
        assert!(matches!(error, LoadError::TooDeep(_)));
    }
}
