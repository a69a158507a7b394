//! The map of the provider.
