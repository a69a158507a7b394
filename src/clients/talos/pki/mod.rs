//! Keys and certificates of a cluster.
