//! What can be looked at: version, services, logs, events, files.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream;
use jiff::{SignedDuration, Timestamp};
use prost_types::{Any, Timestamp as WireTimestamp};
use talos_api::common::Data;
use talos_api::machine::{
    DmesgRequest, Event, EventsRequest, FeaturesInfo, Hostname, HostnameResponse, LogsRequest, MemInfo,
    Memory, MemoryResponse, PlatformInfo, ServiceEvent, ServiceEvents, ServiceHealth, ServiceInfo,
    ServiceList, ServiceListResponse, SystemStat, SystemStatResponse, Version, VersionInfo, VersionResponse,
};
use tonic::{Response, Status};

use super::{Answers, chunks};
use crate::machine::{Boot, Service};

/// Version and platform; features are known once there is a configuration.
pub(super) fn version(boot: &Boot) -> VersionResponse {
    let version = VersionInfo {
        tag: boot.version.to_string(),
        os: "linux".to_owned(),
        arch: "amd64".to_owned(),
        ..VersionInfo::default()
    };
    let platform = PlatformInfo { name: "metal".to_owned(), mode: "metal".to_owned() };
    let features = boot.configuration().map(|_| FeaturesInfo { rbac: true });
    let message = Version { metadata: None, version: Some(version), platform: Some(platform), features };
    VersionResponse { messages: vec![message] }
}

/// The kernel's host name; without one it is the kernel's default.
pub(super) fn hostname(boot: &Boot) -> HostnameResponse {
    let hostname = boot.hostname().unwrap_or_else(|| "localhost".to_owned());
    HostnameResponse { messages: vec![Hostname { metadata: None, hostname }] }
}

/// Services with state, health and history.
pub(super) fn services(boot: &Boot) -> ServiceListResponse {
    let services = boot.services().into_iter().map(service).collect();
    ServiceListResponse { messages: vec![ServiceList { metadata: None, services }] }
}

/// Memory in KiB.
pub(super) fn memory(boot: &Boot) -> MemoryResponse {
    let total = boot.machine.specification.memory.bytes() >> 10;
    let info = MemInfo { memtotal: total };
    MemoryResponse { messages: vec![Memory { metadata: None, meminfo: Some(info) }] }
}

/// When the machine booted.
pub(super) fn system_stat(boot: &Boot) -> SystemStatResponse {
    let boot_time = u64::try_from(boot.began.as_second()).unwrap_or_default();
    SystemStatResponse { messages: vec![SystemStat { metadata: None, boot_time }] }
}

/// A file: of the kernel's, the id of this boot; no other is simulated.
pub(super) fn read(boot: &Boot, path: &str) -> Result<Response<Answers<Data>>, Status> {
    match path {
        "/proc/sys/kernel/random/boot_id" => Ok(chunks(format!("{}\n", boot.id).as_bytes())),
        other => Err(Status::not_found(format!("stat {other}: no such file or directory"))),
    }
}

/// The kernel log, and with `follow` what comes.
pub(super) fn kernel_log(boot: &Arc<Boot>, request: &DmesgRequest) -> Response<Answers<Data>> {
    let lines = boot.log.lines();
    let seen = if request.follow && request.tail { lines.len() } else { 0 };
    if !request.follow {
        let lines = lines.into_iter().map(|line| Ok(Data { metadata: None, bytes: line.into_bytes() }));
        return Response::new(Box::pin(stream::iter(lines.collect::<Vec<_>>())));
    }
    let follower = (Arc::clone(boot), boot.log.watch(), seen);
    Response::new(Box::pin(stream::unfold(follower, |(boot, mut written, seen)| async move {
        loop {
            written.mark_unchanged();
            if let Some(line) = boot.log.lines().into_iter().nth(seen) {
                let data = Data { metadata: None, bytes: line.into_bytes() };
                return Some((Ok(data), (boot, written, seen + 1)));
            }
            written.changed().await.ok()?;
        }
    })))
}

/// The log of a service: its own history.
pub(super) fn service_log(boot: &Boot, request: &LogsRequest) -> Result<Response<Answers<Data>>, Status> {
    let services = boot.services();
    let service = services
        .iter()
        .find(|service| service.id == request.id)
        .ok_or_else(|| Status::unknown(format!("log {:?} was not registered", request.id)))?;
    let lines: String =
        service.events.iter().map(|(state, message, time)| format!("{time} {state}: {message}\n")).collect();
    Ok(chunks(lines.as_bytes()))
}

/// The machine's events: an empty one at once, those asked for of the past, then what comes.
pub(super) fn events(boot: &Arc<Boot>, request: EventsRequest) -> Response<Answers<Event>> {
    let past = boot.log.events();
    let last = past.last().map_or(0, |entry| entry.number);
    let since = match (request.tail_events, request.tail_id.as_str(), request.tail_seconds) {
        (0, "", 0) => Tail::None,
        (0, "", seconds) => Tail::Since(Timestamp::now() - SignedDuration::from_secs(i64::from(seconds))),
        (0, id, _) => Tail::After(id.to_owned()),
        (count, ..) => Tail::Last(usize::try_from(count).unwrap_or(usize::MAX)),
    };
    let count = past.len();
    let position = past.iter().position(|entry| matches!(&since, Tail::After(id) if entry.event.id == *id));
    let wanted = past.into_iter().enumerate().filter(|(index, entry)| match &since {
        Tail::None => false,
        Tail::Last(last) => index.saturating_add(*last) >= count,
        Tail::Since(time) => entry.time >= *time,
        Tail::After(_) => position.is_none_or(|position| *index > position),
    });
    let hello = Event {
        metadata: None,
        data: Some(Any::default()),
        id: String::new(),
        actor_id: request.with_actor_id.clone(),
    };
    let mut pending: VecDeque<_> = wanted.map(|(_, entry)| entry.event).collect();
    pending.retain(|event| request.with_actor_id.is_empty() || event.actor_id == request.with_actor_id);
    pending.push_front(hello);
    let follower = Follower { boot: Arc::clone(boot), last, pending, actor: request.with_actor_id };
    Response::new(Box::pin(stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    })))
}

/// Which events of the past are wanted.
enum Tail {
    None,
    Last(usize),
    Since(Timestamp),
    After(String),
}

struct Follower {
    boot: Arc<Boot>,
    last: u64,
    pending: VecDeque<Event>,
    actor: String,
}

impl Follower {
    async fn next(&mut self) -> Option<Event> {
        let mut written = self.boot.log.watch();
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            written.mark_unchanged();
            let new = self.boot.log.events().into_iter().filter(|entry| entry.number > self.last);
            let new: Vec<_> = new.collect();
            if let Some(last) = new.last() {
                self.last = last.number;
                let wanted = |event: &Event| self.actor.is_empty() || event.actor_id == self.actor;
                self.pending.extend(new.into_iter().map(|entry| entry.event).filter(wanted));
                continue;
            }
            written.changed().await.ok()?;
        }
    }
}

fn service(service: Service) -> ServiceInfo {
    let events = service.events.into_iter().map(|(state, msg, time)| ServiceEvent {
        msg,
        state: state.to_owned(),
        ts: Some(wire_time(time)),
    });
    ServiceInfo {
        id: service.id.to_owned(),
        state: service.state.to_owned(),
        events: Some(ServiceEvents { events: events.collect() }),
        health: Some(ServiceHealth {
            unknown: service.healthy.is_none(),
            healthy: service.healthy == Some(true),
            last_message: service.message,
            last_change: Some(wire_time(service.since)),
        }),
    }
}

fn wire_time(time: Timestamp) -> WireTimestamp {
    WireTimestamp { seconds: time.as_second(), nanos: time.subsec_nanosecond() }
}
