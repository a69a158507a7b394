//! How a control plane becomes a member of a running etcd: as a learner first, as Talos does it.

use std::net::IpAddr;

use super::gateway::Gateway;
use super::model::{EtcdError, EtcdMember};
use super::service::{fellows, gateway};
use crate::kubernetes::arguments::socket;
use crate::kubernetes::context::Context;

/// Adds this node as a learner through a running member, and lists who forms the cluster, as etcd's flag
/// `initial-cluster` wants it.
pub(super) async fn initial_cluster(context: &Context, through: IpAddr) -> Result<String, String> {
    let gateway = gateway(context, through)?;
    let own_url = format!("https://{}", socket(context.address, 2380));
    let members = gateway.members().await.map_err(|error| error.to_string())?;
    // A member that never started has no name, and would get an empty one in the flag.
    if let Some(unstarted) = members.iter().find(|member| member.name.is_empty() && !is_own(member, &own_url))
    {
        return Err(format!("member {:x} has not started yet", unstarted.id));
    }
    forget_former_self(&gateway, &members, context.hostname(), &own_url)
        .await
        .map_err(|error| error.to_string())?;
    let id = gateway.add_learner(&own_url).await.map_err(|error| error.to_string())?;
    let members = gateway.members().await.map_err(|error| error.to_string())?;
    Ok(flag_value(&members, id, context.hostname()))
}

/// Asks every other running member to make this one a voter, until one does. A leader accepts once the learner is in
/// sync.
pub(super) async fn promote(context: &Context, id: u64) -> Result<(), EtcdError> {
    let fellows = fellows(context, &context.clusters.members().borrow());
    let mut last = EtcdError::NotRunning { node: "any other control plane".to_owned() };
    for address in fellows {
        let gateway =
            gateway(context, address).map_err(|reason| EtcdError::Unreachable { address, reason })?;
        match gateway.promote(id).await {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn forget_former_self(
    gateway: &Gateway,
    members: &[EtcdMember],
    hostname: &str,
    own_url: &str,
) -> Result<(), EtcdError> {
    for member in members.iter().filter(|member| member.name == hostname || is_own(member, own_url)) {
        gateway.remove(member.id).await?;
    }
    Ok(())
}

fn is_own(member: &EtcdMember, own_url: &str) -> bool {
    member.peer_urls.iter().any(|url| url == own_url)
}

fn flag_value(members: &[EtcdMember], own_id: u64, hostname: &str) -> String {
    let entries = members.iter().flat_map(|member| {
        let name = if member.id == own_id { hostname } else { member.name.as_str() };
        member.peer_urls.iter().map(move |url| format!("{name}={url}"))
    });
    entries.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_member_gets_its_own_name_in_the_flag() {
        let member = |id, name: &str, address: &str| EtcdMember {
            id,
            name: name.to_owned(),
            peer_urls: vec![format!("https://{address}:2380")],
            client_urls: Vec::new(),
            is_learner: name.is_empty(),
        };
        let members = [member(2, "", "127.0.31.12"), member(1, "cp-1", "127.0.31.11")];
        assert_eq!(
            flag_value(&members, 2, "cp-2"),
            "cp-2=https://127.0.31.12:2380,cp-1=https://127.0.31.11:2380"
        );
    }
}
