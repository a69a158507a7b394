//! Clients of the API server.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::Client;
use kube::config::{AuthInfo, Config};
use serde_json::json;

use super::certificates::pem_body;
use super::context::Context;
use super::files;
use crate::configuration::{MachineConfiguration, Secret};

/// How a client proves who it is.
pub(super) enum Credentials<'a> {
    Certificate { certificate: &'a str, key: &'a Secret },
    Token(&'a str),
}

/// Talos' own client: an administrator, at this node's own API server.
pub(super) fn talos_admin(context: &Context) -> Result<Client, String> {
    let admin = files::talos_admin(context.configuration()).map_err(|error| error.to_string())?;
    let port = context.configuration().cluster.local_api_server_port;
    let server = format!("https://{}", super::arguments::socket(context.address, port));
    let credentials = Credentials::Certificate { certificate: &admin.certificate, key: &admin.key };
    build(context.configuration(), &server, None, &credentials)
}

/// A client that goes where the node's own components go.
pub(super) fn local(
    configuration: &MachineConfiguration,
    address: IpAddr,
    credentials: &Credentials<'_>,
) -> Result<Client, String> {
    // A worker without KubePrism has no API server beside it: it takes the cluster's endpoint.
    if configuration.machine.kube_prism_port.is_none() && !configuration.machine.kind.is_control_plane() {
        return build(configuration, &configuration.cluster.endpoint, None, credentials);
    }
    build(configuration, &files::local_server(configuration, address), Some("localhost"), credentials)
}

fn build(
    configuration: &MachineConfiguration,
    server: &str,
    server_name: Option<&str>,
    credentials: &Credentials<'_>,
) -> Result<Client, String> {
    let cluster = &configuration.cluster;
    let uri = server.parse().map_err(|error| format!("{server}: {error}"))?;
    let mut config = Config::new(uri);
    let authorities = cluster.accepted_cas.iter().chain(cluster.ca.as_ref().map(|ca| &ca.certificate));
    config.root_cert = Some(authorities.filter_map(|pem| pem_body(pem)).collect());
    config.tls_server_name = server_name.map(str::to_owned);
    config.auth_info = auth_info(credentials)?;
    Client::try_from(config).map_err(|error| format!("a client of {server}: {error}"))
}

fn auth_info(credentials: &Credentials<'_>) -> Result<AuthInfo, String> {
    let fields = match credentials {
        Credentials::Certificate { certificate, key } => json!({
            "client-certificate-data": STANDARD.encode(certificate),
            "client-key-data": STANDARD.encode(key.expose()),
        }),
        Credentials::Token(token) => json!({ "token": token }),
    };
    serde_json::from_value(fields).map_err(|error| format!("credentials: {error}"))
}
