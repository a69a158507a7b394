//! A cluster's keys and certificates: made once, in the formats that Talos writes, and used to sign our own.
//!
//! - [`generate_secrets`]: all secrets of a new cluster
//! - [`administrator`]: a certificate for Talos' API, signed by the cluster's authority; [`talosconfig`] writes it down
//! - [`kubeconfig`]: the same for Kubernetes' API, without asking any machine
//!
//! The date is an argument. So is randomness ([`Random`]), for everything but the keys of elliptic curves and RSA,
//! which the cryptography library draws from the system by itself.
//!
//! Formats (Talos 1.9 to 1.14): Ed25519 keys are PKCS#8 version 1 under the label `ED25519 PRIVATE KEY`, those of
//! P-256 SEC 1 with the curve named under `EC PRIVATE KEY`, RSA's PKCS#1 under `RSA PRIVATE KEY`.

mod access;
mod authority;
mod client;
mod error;
mod keys;
mod pem;
mod random;
mod secrets;
mod validity;

pub use access::{kubeconfig, talosconfig};
pub use client::{ClientCertificate, administrator, kubernetes_administrator};
pub use error::Error;
pub use random::{Random, SystemRandom};
pub use secrets::{generate_secrets, generate_secrets_blocking};
pub use validity::{BACKDATED, LIFETIME};
