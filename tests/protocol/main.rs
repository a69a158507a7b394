//! The whole plugin server as its clients see it: a tfplugin6 client of our own, the real program, and the
//! real Terraform and OpenTofu, against a small example provider.

mod clients;
mod connection;
mod example;
mod faults;
mod generated;
mod lifecycle;
mod program;
mod schema;
mod values;
