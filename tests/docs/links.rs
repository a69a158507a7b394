//! Links from one file of the repository to another.

use std::path::{Path, PathBuf};

use crate::root;

#[test]
fn every_link_within_the_repository_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page can be read");
        for link in links(&text) {
            let Some(folder) = page.parent() else { continue };
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if target.is_empty() { page.clone() } else { folder.join(target) };
            if !file.exists() || !(anchor.is_empty() || has_anchor(&file, anchor)) {
                broken.push(format!("{} links to {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn links_and_their_anchors_are_found() {
    assert_eq!(links("a [b](c.md#d) [e](https://f) ![g](h.svg)"), ["c.md#d", "h.svg"]);
    assert_eq!(anchor_of("## What to do, `then`?"), "what-to-do-then");
}

/// Targets of links that are paths.
fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
        .filter(|target| !target.contains("://") && !target.contains(char::is_whitespace))
        .collect()
}

fn has_anchor(file: &Path, anchor: &str) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.contains(&format!("<a id=\"{anchor}\">"))
        || text.lines().filter(|line| line.starts_with('#')).any(|line| anchor_of(line) == anchor)
}

/// What forges make of a heading.
fn anchor_of(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter(|one| one.is_alphanumeric() || matches!(one, ' ' | '-' | '_'))
        .map(|one| if one == ' ' { '-' } else { one.to_ascii_lowercase() })
        .collect()
}

/// Every page of the root, `docs/`, `examples/` and the lab.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders: Vec<PathBuf> = ["docs", "examples", "tests/lab"].map(|one| root().join(one)).into();
    let mut add = |entry: PathBuf, folders: &mut Vec<PathBuf>, deep: bool| match entry.extension() {
        _ if entry.is_dir() => folders.extend(deep.then_some(entry)),
        Some(extension) if extension == "md" => pages.push(entry),
        _ => {}
    };
    for entry in root().read_dir().expect("the root can be read").flatten() {
        add(entry.path(), &mut folders, false);
    }
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            add(entry.path(), &mut folders, true);
        }
    }
    pages
}
