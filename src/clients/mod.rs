//! THE WORLD'S SIDE: one folder for each thing that answers. No client knows another.

pub mod charts;
pub mod inventory;
pub mod kubernetes;
pub mod talos;
