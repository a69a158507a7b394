//! Before and after every call: is it known, may the caller, is there a fault, how did it end.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::service::Routes;
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

use super::methods::{self, Mode, Refusal};
use crate::events::{EventKind, Events};
use crate::fault::{CallFault, Faults, StatusCode};
use crate::tls::Caller;

/// What a call passes on a connection.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(super) routes: Routes,
    pub(super) mode: Mode,
    /// The machine's own addresses and names, for which no forwarding is needed.
    pub(super) own_names: Arc<Vec<String>>,
    pub(super) control_plane: bool,
    pub(super) faults: Arc<Faults>,
    pub(super) recorder: Recorder,
}

/// Where calls are recorded.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(super) events: Arc<Events>,
    pub(super) machine: String,
}

impl Gate {
    /// Answers one call of a connection, which `cut` breaks.
    pub(crate) async fn call(
        self,
        request: Request<Incoming>,
        caller: Caller,
        cut: CancellationToken,
    ) -> Result<Response<Body>, Infallible> {
        let method = request.uri().path().trim_start_matches('/').to_owned();
        let roles = request.headers().get_all("talos-role").iter();
        let roles = roles.filter_map(|role| role.to_str().ok().map(str::to_owned)).collect();
        let caller = methods::effective(&caller, roles);
        let mut entry = Entry::new(self.recorder.clone(), &method, &caller);
        if let Err(refusal) = methods::judge(request.uri().path(), self.mode, &caller) {
            return Ok(entry.refuse(refusal.into()));
        }
        if let Err(status) = self.routed_here(request.headers()) {
            return Ok(entry.refuse(status));
        }
        let fault = self.faults.on_call(&method);
        entry.fault = fault.as_ref().map(CallFault::name);
        match fault {
            Some(CallFault::Answer(code, message)) => Ok(entry.refuse(Status::new(code.0, message))),
            Some(CallFault::Hang) => {
                let _held = entry;
                std::future::pending().await
            }
            Some(CallFault::DropReply) => {
                let response = self.pass(request, caller).await;
                // The whole call is carried out; only its answer is lost.
                let ended = response.into_body().collect().await;
                entry.code =
                    ended.ok().and_then(|body| body.trailers().and_then(code_of)).unwrap_or(Code::Ok);
                drop(entry);
                cut.cancel();
                std::future::pending().await
            }
            None => Ok(entry.follow(self.pass(request, caller).await)),
        }
    }

    async fn pass(&self, mut request: Request<Incoming>, caller: Caller) -> Response<Body> {
        request.extensions_mut().insert(caller);
        let mut routes = self.routes.clone();
        match ServiceExt::<Request<Incoming>>::ready(&mut routes).await {
            Ok(routes) => match routes.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Err(never) => match never {},
        }
    }

    /// Whether the call is for this machine. Headers `node` and `nodes` ask for another one; maintenance mode ignores
    /// them. Forwarding to other machines is not simulated.
    fn routed_here(&self, headers: &HeaderMap) -> Result<(), Status> {
        if self.mode.maintenance {
            return Ok(());
        }
        let targets = headers.get_all("nodes").iter().chain(headers.get_all("node"));
        let foreign = targets
            .map(|target| target.to_str().unwrap_or_default())
            .find(|target| !self.own_names.iter().any(|own| own == target));
        match foreign {
            None => Ok(()),
            Some(_) if !self.control_plane => Err(Status::permission_denied("no request forwarding")),
            Some(target) => Err(Status::unimplemented(format!(
                "the simulator forwards no requests: expected a call for this machine, but it is for {target:?}; dial that machine itself"
            ))),
        }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unimplemented(text) => Self::unimplemented(text),
            Refusal::NotAuthorized => Self::permission_denied("not authorized"),
        }
    }
}

/// A call's entry in the event log, written when it is dropped: as `Canceled` unless a status came first.
struct Entry {
    recorder: Recorder,
    method: String,
    caller: Caller,
    time: Timestamp,
    began: Instant,
    code: Code,
    fault: Option<&'static str>,
}

impl Entry {
    fn new(recorder: Recorder, method: &str, caller: &Caller) -> Self {
        let (method, caller) = (method.to_owned(), caller.clone());
        let (time, began) = (Timestamp::now(), Instant::now());
        Self { recorder, method, caller, time, began, code: Code::Cancelled, fault: None }
    }

    /// Ends the call with a status of the gate's own.
    fn refuse(mut self, status: Status) -> Response<Body> {
        self.code = status.code();
        status.into_http()
    }

    /// Reads how the call ends from its response.
    fn follow(mut self, response: Response<Body>) -> Response<Body> {
        if let Some(code) = code_of(response.headers()) {
            self.code = code;
            return response;
        }
        response.map(|body| Body::new(Followed { body, entry: self }))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let kind = EventKind::Request {
            method: std::mem::take(&mut self.method),
            roles: std::mem::take(&mut self.caller.roles),
            common_name: self.caller.common_name.take(),
            code: StatusCode(self.code),
            milliseconds: self.began.elapsed().as_secs_f64() * 1000.0,
            fault: self.fault,
        };
        self.recorder.events.record_at(self.time, &self.recorder.machine, kind);
    }
}

/// A response's body on its way out; its trailers say how the call ended.
struct Followed {
    body: Body,
    entry: Entry,
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(code) = frame.trailers_ref().and_then(code_of)
        {
            self.entry.code = code;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn code_of(headers: &HeaderMap) -> Option<Code> {
    headers.get("grpc-status").map(|status| Code::from_bytes(status.as_bytes()))
}
