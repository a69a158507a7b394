//! The figures of the product, each beside what it is measured against, in one run: `make bench`.
//!
//! Nothing is asserted: machines are shared and noisy. A ratio of two things measured in turn is what to look at.

mod charts;
mod claims;
mod configuration;
mod configurations;
mod plan;
mod start;
mod table;
mod tofu;
mod waits;

use std::process::ExitCode;

use table::Table;

type Measure = fn(&mut Table);

/// The argument with which this program renders a chart and does nothing else.
const RENDER: &str = "render-only";

/// All figures, or those that are named on the command line.
fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    if let [first, name, chart] = wanted.iter().map(String::as_str).collect::<Vec<_>>().as_slice()
        && *first == RENDER
    {
        return charts::render_only(name, chart);
    }
    let mut table = Table::new();
    let all: [(&str, Measure); 7] = [
        ("start", start::measure),
        ("configuration", configuration::measure),
        ("claims", claims::measure),
        ("charts", charts::measure),
        ("waits", waits::measure),
        ("plan", plan::measure),
        ("configurations", configurations::measure),
    ];
    for (name, measure) in all {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            measure(&mut table);
        }
    }
    table.print();
    ExitCode::SUCCESS
}
