//! go-plugin's handshake: what the client says by the environment, and the one line that answers it.
//!
//! Facts from hashicorp/go-plugin (`server.go`, `client.go`) and Terraform's `internal/plugin/serve.go`.

use std::path::PathBuf;

/// Terraform's and OpenTofu's secret that is none: it tells a provider that a client started it.
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The major version of the plugin protocol that is spoken here.
pub(super) const PROTOCOL: u32 = 6;

/// What the client put into the environment.
#[derive(Clone, Debug, Default)]
pub(super) struct Environment {
    pub(super) cookie: Option<String>,
    pub(super) protocols: Option<String>,
    pub(super) client_certificate: Option<String>,
    pub(super) socket_folder: Option<PathBuf>,
    pub(super) multiplex: Option<String>,
}

impl Environment {
    /// This process' own.
    pub(super) fn of_process() -> Self {
        let text = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            cookie: text("TF_PLUGIN_MAGIC_COOKIE"),
            protocols: text("PLUGIN_PROTOCOL_VERSIONS"),
            client_certificate: text("PLUGIN_CLIENT_CERT"),
            socket_folder: text("PLUGIN_UNIX_SOCKET_DIR").map(PathBuf::from),
            multiplex: text("PLUGIN_MULTIPLEX_GRPC"),
        }
    }
}

/// Why there is no handshake; the text is for a person at a terminal.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error(
        "This program is a plugin: Terraform and OpenTofu start it, it is not run by hand.\n\
         To attach a debugger, start it with --debug and follow what it prints."
    )]
    NotAPlugin,
    #[error("This provider speaks version {PROTOCOL} of the plugin protocol; the client offers {0}.")]
    Protocol(String),
}

/// What was agreed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// The only certificate that a client may show, as PEM; without one (`TF_DISABLE_PLUGIN_TLS=1`) the
    /// connection is in the clear.
    pub(super) client_certificate: Option<String>,
    /// Where the socket's folder is made.
    pub(super) socket_folder: Option<PathBuf>,
    /// The client wants to be told whether connections are multiplexed; they are not.
    pub(super) says_multiplex: bool,
}

/// Agrees with the client, or says why not.
pub(super) fn agree(environment: Environment) -> Result<Terms, Refusal> {
    if environment.cookie.as_deref() != Some(COOKIE) {
        return Err(Refusal::NotAPlugin);
    }
    // A client of the time before the list speaks one version and finds out by the line.
    if let Some(offered) = environment.protocols
        && !offered.split(',').any(|version| version.trim() == PROTOCOL.to_string())
    {
        return Err(Refusal::Protocol(offered));
    }
    Ok(Terms {
        client_certificate: environment.client_certificate,
        socket_folder: environment.socket_folder,
        says_multiplex: environment.multiplex.is_some(),
    })
}

/// The line on stdout: version of go-plugin's own protocol, of ours, where to connect, and the server's
/// certificate (DER in base64 without padding; empty without TLS).
pub(super) fn line(socket: &str, certificate: &str, says_multiplex: bool) -> String {
    let multiplex = if says_multiplex { "|false" } else { "" };
    format!("1|{PROTOCOL}|unix|{socket}|grpc|{certificate}{multiplex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terraform() -> Environment {
        Environment {
            cookie: Some(COOKIE.to_owned()),
            protocols: Some("5,6".to_owned()),
            client_certificate: Some("pem".to_owned()),
            ..Environment::default()
        }
    }

    #[test]
    fn a_client_of_today_is_agreed_with() {
        let terms =
            Terms { client_certificate: Some("pem".to_owned()), socket_folder: None, says_multiplex: false };
        assert_eq!(agree(terraform()), Ok(terms));
    }

    #[test]
    fn a_person_is_told_that_this_is_a_plugin() {
        for cookie in [None, Some("guess".to_owned())] {
            let refused = agree(Environment { cookie, ..terraform() });
            assert_eq!(refused, Err(Refusal::NotAPlugin));
        }
        assert!(Refusal::NotAPlugin.to_string().starts_with("This program is a plugin"));
    }

    #[test]
    fn a_client_of_another_protocol_is_refused_by_name() {
        let refused = agree(Environment { protocols: Some("4,5".to_owned()), ..terraform() });
        assert_eq!(refused, Err(Refusal::Protocol("4,5".to_owned())));
    }

    #[test]
    fn the_line_has_six_fields_and_a_seventh_only_when_asked() {
        assert_eq!(line("/t/s", "QUJD", false), "1|6|unix|/t/s|grpc|QUJD");
        assert_eq!(line("/t/s", "", true), "1|6|unix|/t/s|grpc||false");
    }
}
