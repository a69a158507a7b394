//! The documentation is what the code says.
//!
//! `docs/index.md`, `docs/resources/` and `docs/data-sources/` are written from the models and from `examples/`, in the
//! form that the registries of Terraform and OpenTofu show. A stale page fails; `make docs` writes them anew. What
//! people wrote is read for links that lead nowhere, and the registry's manifest is compared with the real program.

mod golden;
mod links;
mod manifest;
mod page;
mod section;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kontinuum::plugin::describe;
use kontinuum::provider::Kontinuum;
use page::Page;

/// Every generated page, by its path below the root.
fn pages() -> BTreeMap<PathBuf, String> {
    let description = describe(&Kontinuum);
    let mut pages = BTreeMap::from([(PathBuf::from("docs/index.md"), Page::provider(&description.provider))]);
    for (name, schema) in &description.resources {
        pages.insert(file("docs/resources", name), Page::resource(name, schema));
    }
    for (name, schema) in &description.data_sources {
        pages.insert(file("docs/data-sources", name), Page::data_source(name, schema));
    }
    pages
}

/// Pages are named without the provider's prefix: the registries put them together again.
fn file(folder: &str, name: &str) -> PathBuf {
    Path::new(folder).join(format!("{}.md", name.strip_prefix("kontinuum_").unwrap_or(name)))
}

#[test]
fn every_page_is_what_the_models_and_the_examples_say() {
    let stale: Vec<String> = pages()
        .into_iter()
        .filter_map(|(path, text)| golden::compare(&root().join(&path), &text).err())
        .collect();
    assert!(stale.is_empty(), "\n{}\nRun `make docs`.", stale.join("\n"));
}

#[test]
fn no_description_holds_a_run_of_spaces() {
    for (path, text) in pages() {
        let sentences = text.lines().filter(|line| line.starts_with("- `"));
        let broken: Vec<_> = sentences.filter(|line| line.contains("  ")).collect();
        assert!(broken.is_empty(), "{}: {broken:?}", path.display());
    }
}

#[test]
fn no_page_and_no_example_is_left_of_what_is_gone() {
    let description = describe(&Kontinuum);
    let named: BTreeSet<String> = description
        .resources
        .keys()
        .chain(description.data_sources.keys())
        .flat_map(|name| [(*name).to_owned(), file("", name).display().to_string()])
        .collect();
    for folder in ["docs/resources", "docs/data-sources", "examples/resources", "examples/data-sources"] {
        for entry in root().join(folder).read_dir().into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            assert!(named.contains(&name), "{folder}/{name} belongs to nothing that the provider has");
        }
    }
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
