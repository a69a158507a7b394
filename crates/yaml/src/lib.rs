//! YAML as Go reads and writes it.
