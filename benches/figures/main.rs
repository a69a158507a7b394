//! The figures of the product, each beside what it is measured against, in one run: `make bench`.
//!
//! Nothing is asserted: machines are shared and noisy. A ratio of two things measured in turn is what to look at.

mod charts;
mod claims;
mod configuration;
mod plan;
mod start;
mod table;

use table::Table;

fn main() {
    let mut table = Table::new();
    start::measure(&mut table);
    configuration::measure(&mut table);
    claims::measure(&mut table);
    charts::measure(&mut table);
    plan::measure(&mut table);
    table.print();
}
