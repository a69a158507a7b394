//! Files that hold what a test makes.

use std::path::Path;

/// Compares a file with what it should hold, or writes it where `KONTINUUM_GOLDEN=write` asks for that.
///
/// # Errors
/// The first line that differs, as the file and as the code have it.
pub(crate) fn compare(file: &Path, expected: &str) -> Result<(), String> {
    let held = std::fs::read_to_string(file).unwrap_or_default();
    if held == expected {
        return Ok(());
    }
    if std::env::var("KONTINUUM_GOLDEN").is_ok_and(|mode| mode == "write") {
        let written = file
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(file, expected));
        return written.map_err(|error| format!("{} cannot be written: {error}", file.display()));
    }
    Err(difference(&file.display().to_string(), &held, expected))
}

fn difference(name: &str, held: &str, expected: &str) -> String {
    let (mut held, mut expected) = (held.lines(), expected.lines());
    let mut number = 1;
    loop {
        match (held.next(), expected.next()) {
            (Some(one), Some(other)) if one == other => number += 1,
            (None, None) => return format!("{name} differs in how it ends"),
            (one, other) => {
                let shown = |line: Option<&str>| line.unwrap_or("(nothing more)").to_owned();
                return format!("{name}:{number} is stale\n- {}\n+ {}", shown(one), shown(other));
            }
        }
    }
}

#[test]
fn a_difference_names_the_line_and_both_texts() {
    assert_eq!(difference("f", "a\nb\n", "a\nc\n"), "f:2 is stale\n- b\n+ c");
    assert_eq!(difference("f", "", "a\n"), "f:1 is stale\n- (nothing more)\n+ a");
    assert_eq!(difference("f", "a", "a\n"), "f differs in how it ends");
}
