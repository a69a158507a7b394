//! The plugin process.
fn main() {}
