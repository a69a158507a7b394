//! Being told of a change, instead of asking again and again.

use prost::Message;
use talos_api::cosi::{Event, EventType, Resource, WatchRequest, WatchResponse};
use tokio::task::JoinHandle;
use tonic::Streaming;

use super::deadline::CALL;
use super::error::{Error, Fault};
use super::resources::{Kind, decode};
use super::session::Session;

/// Without it Talos drops the events that say "that was all" and "that went wrong".
const API_VERSION: i32 = 1;

/// What became of a watched resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<T> {
    /// It is so now.
    Present(T),
    /// It is not there.
    Absent,
}

/// The states of one resource, from the present one on. Ends when it is dropped, and then costs the machine nothing
/// more.
///
/// A machine that vanishes without a word leaves a watch waiting: it is to wake a loop early, not to be its only
/// clock. A watch on a machine in maintenance mode delays its way out of it by up to 10 seconds (Talos 1.13): drop it
/// before a configuration is applied.
#[derive(Debug)]
pub struct Watch<T> {
    session: Session,
    method: String,
    stream: Streaming<WatchResponse>,
    /// Events of a response that held several.
    pending: std::vec::IntoIter<Event>,
    convert: fn(Option<Resource>) -> Result<T, Fault>,
}

impl<T> Watch<T> {
    /// Waits for the next state, for as long as it takes.
    ///
    /// # Errors
    ///
    /// When the watch is over: the machine's error, or [`Fault::Lost`].
    pub async fn next(&mut self) -> Result<Change<T>, Error> {
        loop {
            for event in self.pending.by_ref() {
                let change =
                    change(event, self.convert).map_err(|fault| self.session.error(&self.method, fault))?;
                if let Some(change) = change {
                    return Ok(change);
                }
            }
            let response = self.stream.message().await;
            let response =
                response.map_err(|status| self.session.error(&self.method, Fault::of_status(&status)))?;
            let ended = || self.session.error(&self.method, Fault::Lost("the machine ended it".to_owned()));
            self.pending = response.ok_or_else(ended)?.event.into_iter();
        }
    }
}

/// A task that watches; it ends when this is dropped.
#[derive(Debug)]
pub struct Watching(JoinHandle<()>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Session {
    /// Watches one resource. The machine confirms the watch within [`CALL`].
    pub(super) async fn watch<S, T>(&self, kind: &Kind<S>, id: &str) -> Result<Watch<T>, Error>
    where
        S: Message + Default,
        T: From<S>,
    {
        let request = WatchRequest {
            namespace: kind.namespace.to_owned(),
            r#type: kind.name.to_owned(),
            id: Some(id.to_owned()),
            options: None,
            api_version: API_VERSION,
        };
        let method = format!("Watch {}/{id}", kind.name);
        let mut state = self.state();
        let established = async {
            let mut response = state.watch(request).await?;
            // The first message is empty and says that the watch stands; refusals come in its place.
            let first = response.get_mut().message().await?;
            Ok(tonic::Response::new((response.into_inner(), first)))
        };
        let (stream, first) = self.call(&method, CALL, established).await?;
        let pending = first.unwrap_or_default().event.into_iter();
        Ok(Watch { session: self.clone(), method, stream, pending, convert: convert::<S, T> })
    }

    /// Calls `wake` at every change of a resource, at the first state too, and once when the watch ends.
    pub(super) fn wake_on_change<S>(
        &self,
        kind: &'static Kind<S>,
        id: &'static str,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Watching
    where
        S: Message + Default + 'static,
    {
        let session = self.clone();
        Watching(tokio::spawn(async move {
            let watch: Result<Watch<S>, Error> = session.watch::<S, S>(kind, id).await;
            match watch {
                Ok(mut watch) => while watch.next().await.map(|_| wake()).is_ok() {},
                Err(error) => tracing::debug!(%error, fault = %error.fault(), "no watch"),
            }
            wake();
        }))
    }
}

fn convert<S, T>(resource: Option<Resource>) -> Result<T, Fault>
where
    S: Message + Default,
    T: From<S>,
{
    let (_, specification): (_, S) = decode(resource)?;
    Ok(T::from(specification))
}

/// What an event says; `None` for those that say nothing about the resource.
fn change<T>(
    event: Event,
    convert: fn(Option<Resource>) -> Result<T, Fault>,
) -> Result<Option<Change<T>>, Fault> {
    match event.event_type() {
        EventType::Created | EventType::Updated => convert(event.resource).map(Change::Present).map(Some),
        EventType::Destroyed => Ok(Some(Change::Absent)),
        EventType::Bootstrapped | EventType::Noop => Ok(None),
        EventType::Errored => Err(Fault::Lost(event.error.unwrap_or_default())),
    }
}
