//! etcd's JSON gateway: <https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/>.

use std::net::IpAddr;
use std::time::Duration;

use http::Method;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::model::{EtcdError, EtcdMember, EtcdStatus};
use crate::kubernetes::https::Https;

/// How long one question may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// A member that can be asked.
#[derive(Clone)]
pub(in crate::kubernetes) struct Gateway {
    https: Https,
    address: IpAddr,
}

impl Gateway {
    pub(in crate::kubernetes) fn new(https: Https, address: IpAddr) -> Self {
        Self { https, address }
    }

    pub(in crate::kubernetes) async fn members(&self) -> Result<Vec<EtcdMember>, EtcdError> {
        let listed: MemberList =
            self.post("/v3/cluster/member/list", json!({ "linearizable": true })).await?;
        Ok(listed.members.into_iter().map(EtcdMember::from).collect())
    }

    pub(in crate::kubernetes) async fn add_learner(&self, peer_url: &str) -> Result<u64, EtcdError> {
        let body = json!({ "peerURLs": [peer_url], "isLearner": true });
        let added: MemberAdded = self.post("/v3/cluster/member/add", body).await?;
        Ok(added.member.id)
    }

    pub(in crate::kubernetes) async fn promote(&self, id: u64) -> Result<(), EtcdError> {
        self.post::<Value>("/v3/cluster/member/promote", json!({ "ID": id.to_string() })).await.map(drop)
    }

    pub(in crate::kubernetes) async fn remove(&self, id: u64) -> Result<(), EtcdError> {
        self.post::<Value>("/v3/cluster/member/remove", json!({ "ID": id.to_string() })).await.map(drop)
    }

    pub(in crate::kubernetes) async fn transfer_leadership(&self, target: u64) -> Result<(), EtcdError> {
        let body = json!({ "targetID": target.to_string() });
        self.post::<Value>("/v3/maintenance/transfer-leadership", body).await.map(drop)
    }

    pub(in crate::kubernetes) async fn status(&self) -> Result<EtcdStatus, EtcdError> {
        let status: Status = self.post("/v3/maintenance/status", json!({})).await?;
        Ok(EtcdStatus {
            cluster_id: status.header.cluster_id,
            member_id: status.header.member_id,
            version: status.version,
            storage_version: status.storage_version,
            leader: status.leader,
            raft_index: status.raft_index,
            raft_applied_index: status.raft_applied_index,
            raft_term: status.raft_term,
            database_bytes: status.db_size,
            database_in_use_bytes: status.db_size_in_use,
            is_learner: status.is_learner,
            errors: status.errors,
        })
    }

    async fn post<T: for<'de> Deserialize<'de>>(&self, path: &str, body: Value) -> Result<T, EtcdError> {
        let unreachable = |reason: String| EtcdError::Unreachable { address: self.address, reason };
        let answer = self
            .https
            .request(Method::POST, (self.address, 2379), path, Some(&body), DEADLINE)
            .await
            .map_err(unreachable)?;
        if answer.status.is_success() {
            return serde_json::from_slice(&answer.body)
                .map_err(|error| unreachable(format!("its answer: {error}")));
        }
        match serde_json::from_slice::<Refusal>(&answer.body) {
            Ok(refusal) => Err(EtcdError::Refused { code: refusal.code, message: refusal.message }),
            Err(_) => Err(unreachable(format!("status {}", answer.status))),
        }
    }
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: i32,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct MemberList {
    #[serde(default)]
    members: Vec<Member>,
}

#[derive(Deserialize)]
struct MemberAdded {
    member: Member,
}

// Numbers of 64 bits are texts, and what is zero or empty is left out.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Member {
    #[serde(rename = "ID", deserialize_with = "number")]
    id: u64,
    name: String,
    #[serde(rename = "peerURLs")]
    peer_urls: Vec<String>,
    #[serde(rename = "clientURLs")]
    client_urls: Vec<String>,
    is_learner: bool,
}

impl From<Member> for EtcdMember {
    fn from(member: Member) -> Self {
        Self {
            id: member.id,
            name: member.name,
            peer_urls: member.peer_urls,
            client_urls: member.client_urls,
            is_learner: member.is_learner,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Header {
    #[serde(deserialize_with = "number")]
    cluster_id: u64,
    #[serde(deserialize_with = "number")]
    member_id: u64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    header: Header,
    version: String,
    storage_version: String,
    #[serde(deserialize_with = "number")]
    leader: u64,
    #[serde(deserialize_with = "number")]
    raft_index: u64,
    #[serde(deserialize_with = "number")]
    raft_applied_index: u64,
    #[serde(deserialize_with = "number")]
    raft_term: u64,
    #[serde(deserialize_with = "number")]
    db_size: i64,
    #[serde(deserialize_with = "number")]
    db_size_in_use: i64,
    is_learner: bool,
    errors: Vec<String>,
}

fn number<'de, D, N>(deserializer: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn an_unstarted_learner_is_read_from_etcd_s_own_json() {
        let text = r#"{"header":{"cluster_id":"1"},"members":[{"ID":"10276657743932975437","peerURLs":["https://127.0.31.12:2380"],"isLearner":true}]}"#;
        let listed: MemberList = serde_json::from_str(text).unwrap();
        let member = EtcdMember::from(listed.members.into_iter().next().unwrap());
        assert_eq!(
            (member.id, member.name.as_str(), member.is_learner),
            (10_276_657_743_932_975_437, "", true)
        );
    }
}
