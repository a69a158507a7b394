//! Where the charts of a run come from: a classic repository, or a real OCI registry.

mod classic;
mod registry;

pub(crate) use classic::ClassicRepository;
pub(crate) use registry::Registry;
