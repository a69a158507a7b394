//! `kontinuum-simulator`.
fn main() {}
