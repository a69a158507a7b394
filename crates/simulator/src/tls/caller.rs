//! Who calls: what a client's certificate says.

use rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The caller of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Roles: the organizations of the certificate's subject.
    pub(crate) roles: Vec<String>,
    /// Common name, which means nothing to Talos.
    pub(crate) common_name: Option<String>,
}

impl Caller {
    /// What everybody is in maintenance mode: a reader.
    pub(crate) fn in_maintenance() -> Self {
        Self { roles: vec!["os:reader".to_owned()], common_name: None }
    }

    /// The caller with this verified certificate; without roles if it cannot be understood.
    pub(crate) fn of_certificate(certificate: &CertificateDer<'_>) -> Self {
        let Ok((_, parsed)) = X509Certificate::from_der(certificate) else { return Self::default() };
        let subject = parsed.subject();
        let roles = subject.iter_organization().filter_map(|name| name.as_str().ok().map(str::to_owned));
        let common_name = subject.iter_common_name().find_map(|name| name.as_str().ok().map(str::to_owned));
        Self { roles: roles.collect(), common_name }
    }

    /// Whether the caller has the role.
    pub(crate) fn has(&self, role: &str) -> bool {
        self.roles.iter().any(|held| held == role)
    }
}
