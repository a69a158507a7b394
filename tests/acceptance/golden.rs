//! Texts that people read, kept beside the cases: a change of one is seen in review.

use std::path::PathBuf;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::process::Ended;
use crate::rig::Rig;

/// What the client says of how this program is run; its text is the client's.
const OVERRIDES: &str = "Provider development overrides are in effect";

/// The provider's diagnostics in the output of a command with `-json`, sorted, with the run's own network
/// written as 10.0.0.0/24 and each machine's time of day as TIME.
pub(crate) fn diagnostics(rig: &Rig, ended: &Ended) -> String {
    let network = rig.address(0).to_string();
    let prefix = network.trim_end_matches('0');
    let lines = ended.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let texts = lines
        .filter(|line| line["type"] == "diagnostic" && line["diagnostic"]["summary"] != OVERRIDES)
        .map(|line| {
            let field = |name: &str| line["diagnostic"][name].as_str().unwrap_or_default().to_owned();
            let place = line["diagnostic"]["snippet"]["context"].as_str().unwrap_or_default();
            format!("{}: {}\n\n{}\n\n({place})\n", field("severity"), field("summary"), field("detail"))
        })
        .collect::<std::collections::BTreeSet<_>>();
    let texts: Vec<String> = texts.into_iter().collect();
    timeless(&placeless(&texts.join("\n").replace(prefix, "10.0.0.")))
}

/// Addresses that are left are made up from the run's own.
fn placeless(text: &str) -> String {
    let mut parts = text.split("127.");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        format!("{shown}127.x.x.x{rest}")
    })
}

/// A kernel log tells the time of day in brackets, and the seconds since the start after the daemon's name.
fn timeless(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_time = word.starts_with("[20") && word.ends_with("Z]:");
        let is_uptime = words.last().is_some_and(|before| before == "[talos]") && word.parse::<f64>().is_ok();
        words.push(if is_time || is_uptime { "TIME".to_owned() } else { word.to_owned() });
    }
    words.join(" ")
}

/// Fails unless a text is that of `golden/NAME.txt`. `UPDATE_GOLDEN=1` in the environment takes the text over.
pub(crate) fn expect(name: &str, text: &str) -> Result<(), Failed> {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance/golden").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        return Ok(std::fs::write(path, text)?);
    }
    let kept = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if kept == text {
        return Ok(());
    }
    Err(format!(
        "expected the text of {}\n{kept}\nbut got\n{text}\n(UPDATE_GOLDEN=1 takes it over)",
        path.display()
    )
    .into())
}
