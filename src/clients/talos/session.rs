//! What both identities share: a connection, its target, and how a call is made on it.

use std::time::Duration;

use http::Uri;
use talos_api::cluster::cluster_service_client::ClusterServiceClient;
use talos_api::cosi::state_client::StateClient;
use talos_api::machine::machine_service_client::MachineServiceClient;
use talos_api::time::time_service_client::TimeServiceClient;
use tonic::{Response, Status, Streaming};

use super::connection::Connection;
use super::error::{Error, Fault};

/// Talos' own limit in both directions; tonic's is an eighth of it.
const MAXIMUM_MESSAGE: usize = 32 * 1024 * 1024;

/// A connection to one machine.
#[derive(Debug, Clone)]
pub(super) struct Session {
    connection: Connection,
    origin: Uri,
    target: String,
}

impl Session {
    /// # Errors
    ///
    /// [`Fault::Malformed`] if `target` can't stand in a request.
    pub(super) fn new(connection: Connection, target: String) -> Result<Self, Fault> {
        // The encryption is below tonic, which knows it only by its own means and so sees plain HTTP/2.
        let origin = Uri::builder()
            .scheme("http")
            .authority(target.as_str())
            .path_and_query("/")
            .build()
            .map_err(|error| Fault::Malformed(error.to_string()))?;
        Ok(Self { connection, origin, target })
    }

    pub(super) fn machine(&self) -> MachineServiceClient<Connection> {
        MachineServiceClient::with_origin(self.connection.clone(), self.origin.clone())
            .max_decoding_message_size(MAXIMUM_MESSAGE)
    }

    pub(super) fn cluster(&self) -> ClusterServiceClient<Connection> {
        ClusterServiceClient::with_origin(self.connection.clone(), self.origin.clone())
            .max_decoding_message_size(MAXIMUM_MESSAGE)
    }

    pub(super) fn time(&self) -> TimeServiceClient<Connection> {
        TimeServiceClient::with_origin(self.connection.clone(), self.origin.clone())
            .max_decoding_message_size(MAXIMUM_MESSAGE)
    }

    pub(super) fn state(&self) -> StateClient<Connection> {
        StateClient::with_origin(self.connection.clone(), self.origin.clone())
            .max_decoding_message_size(MAXIMUM_MESSAGE)
    }

    /// Waits for an answer, no longer than `limit`.
    ///
    /// # Errors
    ///
    /// The machine's status, or [`Fault::Silent`].
    pub(super) async fn call<T>(
        &self,
        method: &str,
        limit: Duration,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(response)) => Ok(response.into_inner()),
            Ok(Err(status)) => Err(self.error(method, Fault::of_status(&status))),
            Err(_) => Err(self.error(method, Fault::Silent(limit))),
        }
    }

    /// As [`Session::call`], for methods whose answer is one message in an envelope that has room for several.
    ///
    /// # Errors
    ///
    /// As [`Session::call`], and [`Fault::Malformed`] unless the envelope holds exactly one.
    pub(super) async fn call_one<R, T>(
        &self,
        method: &str,
        limit: Duration,
        answer: impl Future<Output = Result<Response<R>, Status>>,
        messages: impl FnOnce(R) -> Vec<T>,
    ) -> Result<T, Error> {
        let mut messages = messages(self.call(method, limit, answer).await?);
        match (messages.pop(), messages.len()) {
            (Some(message), 0) => Ok(message),
            (_, more) => {
                let found = format!("expected one message, got {more}, of {method}");
                Err(self.error(method, Fault::Malformed(found)))
            }
        }
    }

    /// Reads a stream to its end, no longer than `limit` from the call on.
    ///
    /// # Errors
    ///
    /// As [`Session::call`]; what came before the error is dropped.
    pub(super) async fn collect<T>(
        &self,
        method: &str,
        limit: Duration,
        answer: impl Future<Output = Result<Response<Streaming<T>>, Status>>,
    ) -> Result<Vec<T>, Error> {
        let all = async {
            let mut stream = answer.await?.into_inner();
            let mut items = Vec::new();
            while let Some(item) = stream.message().await? {
                items.push(item);
            }
            Ok(Response::new(items))
        };
        self.call(method, limit, all).await
    }

    pub(super) fn error(&self, method: &str, fault: Fault) -> Error {
        Error::new(format!("call {method} on"), &self.target, fault)
    }
}
