//! A watch: what is there, then what changes.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream;
use talos_api::cosi::{Event, EventType, WatchRequest, WatchResponse};
use tonic::Status;

use super::super::Answers;
use super::on_the_wire;
use super::query::Query;
use crate::machine::Boot;
use crate::resources::{Change, ChangeKind, Position, Resource};

/// A watch of one kind, or of one resource.
pub(super) struct Watching {
    boot: Arc<Boot>,
    namespace: String,
    kind: String,
    /// The only resource, if it is a watch of one.
    id: Option<String>,
    query: Query,
    /// Without it a client hears nothing of the end of the bootstrap.
    hears_bootstrapped: bool,
    position: Position,
    pending: VecDeque<WatchResponse>,
}

impl Watching {
    /// Begins a watch after checking access and options.
    pub(super) fn begin(
        boot: Arc<Boot>,
        request: WatchRequest,
        allowed: impl FnOnce(&str, &str) -> Result<(), Status>,
    ) -> Result<Self, Status> {
        let WatchRequest { namespace, r#type: kind, id, options, api_version } = request;
        let options = options.unwrap_or_default();
        if id.is_some() && options.bootstrap_contents {
            return Err(Status::unimplemented("bootstrap contents is not implemented for resource watch"));
        }
        if id.is_some() && !options.label_query.is_empty() {
            return Err(Status::unimplemented("label query is not implemented for resource watch"));
        }
        let query = Query::new(options.label_query, options.id_query)?;
        allowed(&namespace, &kind)?;
        let tail = u64::try_from(options.tail_events).unwrap_or(0);
        let bookmark = options.start_from_bookmark;
        if tail > 0 && bookmark.is_some() {
            return Err(Status::unknown("cannot use both TailEvents and StartFromBookmark options"));
        }
        if options.bootstrap_contents && (tail > 0 || bookmark.is_some()) {
            return Err(Status::unknown(
                "cannot use BootstrapContents with TailEvents and StartFromBookmark options",
            ));
        }
        let (resources, end) = boot.store.snapshot(&namespace, &kind);
        let position = match &bookmark {
            Some(bookmark) => boot
                .store
                .position_of(&namespace, &kind, bookmark)
                .map_err(|error| Status::failed_precondition(error.to_string()))?,
            None if tail > 0 => boot.store.position_before_end(&namespace, &kind, tail),
            None => end,
        };
        // The first message is empty and says that the watch stands.
        let pending = VecDeque::from([WatchResponse::default()]);
        let hears_bootstrapped = api_version >= 1;
        let mut watching = Self { boot, namespace, kind, id, query, hears_bootstrapped, position, pending };
        let resuming = tail > 0 || bookmark.is_some();
        match watching.id.clone() {
            Some(id) if !resuming => watching.show_one(&id),
            Some(_) => {}
            None if options.bootstrap_contents => watching.bootstrap(&resources, options.aggregated),
            None if options.bootstrap_bookmark => watching.bookmark(EventType::Noop),
            None => {}
        }
        Ok(watching)
    }

    /// The watch as a stream, which ends only when the history was overrun.
    pub(super) fn into_stream(self) -> Answers<WatchResponse> {
        Box::pin(stream::unfold(self, |mut watching| async move {
            let response = watching.next().await?;
            Some((Ok(response), watching))
        }))
    }

    async fn next(&mut self) -> Option<WatchResponse> {
        loop {
            if let Some(response) = self.pending.pop_front() {
                return Some(response);
            }
            let store = &self.boot.store;
            let changes = store.changes_after(&self.namespace, &self.kind, self.position).await?;
            for (change, position) in changes {
                self.position = position;
                if self.is_wanted(&change.resource) {
                    let bookmark = self.boot.store.bookmark(position);
                    self.pending.push_back(one(event(&change, bookmark)));
                }
            }
        }
    }

    fn is_wanted(&self, resource: &Resource) -> bool {
        match &self.id {
            Some(id) => resource.id == *id,
            None => self.query.matches(resource),
        }
    }

    /// The resource as it is, or that it isn't there.
    fn show_one(&mut self, id: &str) {
        let found = self.boot.store.find(&self.namespace, &self.kind, id);
        let (kind, resource) = match found {
            Some(found) => (EventType::Created, on_the_wire(&found)),
            None => {
                let tombstone = Resource::tombstone(&self.namespace, &self.kind, id);
                (EventType::Destroyed, on_the_wire(&tombstone))
            }
        };
        self.pending.push_back(one(Event {
            resource: Some(resource),
            event_type: kind.into(),
            ..Event::default()
        }));
    }

    /// All resources, then a mark that these were all.
    fn bootstrap(&mut self, resources: &[Arc<Resource>], aggregated: bool) {
        let wanted = resources.iter().filter(|resource| self.is_wanted(resource));
        let mut events: Vec<_> = wanted
            .map(|resource| Event {
                resource: Some(on_the_wire(resource)),
                event_type: EventType::Created.into(),
                ..Event::default()
            })
            .collect();
        if self.hears_bootstrapped {
            events.push(self.mark(EventType::Bootstrapped));
        }
        if aggregated {
            self.pending.push_back(WatchResponse { event: events });
        } else {
            self.pending.extend(events.into_iter().map(one));
        }
    }

    fn bookmark(&mut self, kind: EventType) {
        let mark = self.mark(kind);
        self.pending.push_back(one(mark));
    }

    /// An event about the kind as a whole.
    fn mark(&self, kind: EventType) -> Event {
        Event {
            resource: Some(on_the_wire(&Resource::tombstone(&self.namespace, &self.kind, ""))),
            event_type: kind.into(),
            bookmark: Some(self.boot.store.bookmark(self.position)),
            ..Event::default()
        }
    }
}

fn one(event: Event) -> WatchResponse {
    WatchResponse { event: vec![event] }
}

fn event(change: &Change, bookmark: Vec<u8>) -> Event {
    let kind = match change.kind {
        ChangeKind::Created => EventType::Created,
        ChangeKind::Updated => EventType::Updated,
        ChangeKind::Destroyed => EventType::Destroyed,
    };
    Event {
        resource: Some(on_the_wire(&change.resource)),
        event_type: kind.into(),
        old: change.old.as_deref().map(on_the_wire),
        error: None,
        bookmark: Some(bookmark),
    }
}
