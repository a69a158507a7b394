//! The table that is printed, and the statistics in it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// Rows of what was measured.
pub(crate) struct Table(Vec<[String; 4]>);

impl Table {
    pub(crate) fn new() -> Self {
        let head = ["what", "measured", "against", "budget"].map(str::to_owned);
        Self(vec![head])
    }

    pub(crate) fn row(&mut self, what: &str, measured: String, against: String, budget: &str) {
        let mut error = std::io::stderr().lock();
        // Each row as it comes: the whole takes minutes.
        drop(writeln!(error, "{what}: {measured}"));
        self.0.push([what.to_owned(), measured, against, budget.to_owned()]);
    }

    pub(crate) fn print(&self) {
        let width = |column: usize| self.0.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..4).map(width).collect();
        let mut text = String::new();
        for row in &self.0 {
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(text, "{cell:width$}  ");
            }
            text.push('\n');
        }
        drop(std::io::stdout().lock().write_all(text.as_bytes()));
    }
}

/// Minimum, median and maximum.
pub(crate) fn spread(mut samples: Vec<Duration>) -> String {
    samples.sort();
    let (first, last) = (samples.first().copied(), samples.last().copied());
    match (first, last) {
        (Some(first), Some(last)) => {
            format!("{} ({}-{})", short(samples[samples.len() / 2]), short(first), short(last))
        }
        _ => "not measured".to_owned(),
    }
}

/// The median; nothing of nothing.
pub(crate) fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// The median of the first over the median of the second.
pub(crate) fn ratio(mut a: Vec<Duration>, mut b: Vec<Duration>) -> String {
    a.sort();
    b.sort();
    match (a.get(a.len() / 2), b.get(b.len() / 2)) {
        (Some(a), Some(b)) if !b.is_zero() => format!("{:.2}x", a.as_secs_f64() / b.as_secs_f64()),
        _ => "no ratio".to_owned(),
    }
}

fn short(duration: Duration) -> String {
    let micros = duration.as_micros();
    if micros < 10_000 { format!("{:.2} ms", micros as f64 / 1e3) } else { format!("{} ms", micros / 1000) }
}

/// Where the lab puts what it builds.
pub(crate) fn lab(path: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        PathBuf::from,
    );
    let lab = std::env::var_os("KONTINUUM_LAB").map_or_else(|| cache.join("kontinuum/lab"), PathBuf::from);
    lab.join(path)
}
