//! A Helm engine without I/O.
