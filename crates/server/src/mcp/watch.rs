//! Streams that tell of changes: a legacy session's GET stream, and `subscriptions/listen`. One broadcast receiver each, no task.

use std::collections::{HashSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use domain::ApprovalId;
use gateway::{Change, Changed, View, ViewKey};
use serde_json::value::RawValue;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::answer::{Answer, Hints};
use super::ears::notification;
use super::log::{event, event_stream};
use super::orphans::is_over;
use super::session::{Marks, Session};
use super::version::Era;
use super::wire::push_text;
use crate::state::AppState;

/// How often a silent stream says that it is alive.
const ALIVE: Duration = Duration::from_secs(15);
/// The notifications of the three lists.
const LISTS: [&str; 3] = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
];

/// What a stream tells of.
pub(super) enum Wants {
    /// Everything that concerns a session.
    Session(Arc<Session>),
    /// What a `subscriptions/listen` request asked for, tagged with its id.
    Listed {
        id: Box<RawValue>,
        lists: [bool; 3],
        uris: HashSet<Arc<str>>,
    },
}

/// What a stream holds on to while it is open.
pub(super) type Held = Box<dyn Send + Sync>;

/// Runs when a stream ends.
pub(super) struct Leave(pub(super) Option<Box<dyn FnOnce() + Send + Sync>>);

impl Drop for Leave {
    fn drop(&mut self) {
        if let Some(leave) = self.0.take() {
            leave();
        }
    }
}

struct Watch {
    state: AppState,
    key: ViewKey,
    wants: Wants,
    marks: Marks,
    changes: Receiver<Change>,
    ended: CancellationToken,
    heard: Option<mpsc::Receiver<String>>,
    ready: VecDeque<String>,
    over: bool,
    /// Whether the agent was enabled when the stream began.
    enabled: bool,
    /// Lets go when the stream ends.
    _held: Held,
}

/// How a stream starts.
pub(super) struct Opening {
    pub(super) key: ViewKey,
    /// What the client saw.
    pub(super) marks: Marks,
    /// Subscribed before the client's state was read, so that nothing falls in between.
    pub(super) changes: Receiver<Change>,
    pub(super) wants: Wants,
    pub(super) held: Held,
    pub(super) ended: CancellationToken,
    /// What else is said on it.
    pub(super) heard: Option<mpsc::Receiver<String>>,
    /// Sent first.
    pub(super) first: Option<String>,
}

/// A response that tells of changes until one side ends it.
pub(super) fn respond(state: &AppState, opening: Opening) -> Response {
    let Opening {
        key,
        marks,
        changes,
        wants,
        held,
        ended,
        heard,
        first,
    } = opening;
    let mut watch = Watch {
        state: state.clone(),
        key,
        wants,
        marks,
        changes,
        ended,
        heard,
        ready: first.into_iter().collect(),
        over: false,
        enabled: false,
        _held: held,
    };
    watch.enabled = watch.view().is_some_and(|view| view.agent().enabled);
    // What changed before this stream was opened, the right to open it included.
    if watch.look().is_none() {
        watch.ready.extend(watch.last());
        watch.over = true;
    }
    let events = futures::stream::unfold(watch, |mut watch| async move {
        let text = watch.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), watch))
    });
    event_stream(Body::from_stream(events))
}

impl Watch {
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(json) = self.ready.pop_front() {
                return Some(event(&json));
            }
            if self.over {
                return None;
            }
            let changed = tokio::select! {
                changed = self.changes.recv() => changed,
                () = self.ended.cancelled() => return self.end(),
                Some(message) = next(&mut self.heard) => return Some(event(&message)),
                () = tokio::time::sleep(ALIVE) => return Some(": alive\n\n".to_owned()),
            };
            let goes_on = match changed {
                Ok(change) if change.tenant == self.key.principal.tenant => self.take(&change.what),
                Ok(_) => Some(()),
                Err(RecvError::Lagged(_)) => self.look(),
                Err(RecvError::Closed) => None,
            };
            if goes_on.is_none() {
                return self.end();
            }
        }
    }

    fn end(&mut self) -> Option<String> {
        self.over = true;
        if let Wants::Session(session) = &self.wants
            && self.view().is_none()
        {
            self.state.sessions.end(&self.state.gateway, session);
        }
        self.last().map(|json| event(&json))
    }

    /// What is said when we end it: a listener gets the answer to its request (2026-07-28, "Graceful Closure").
    fn last(&self) -> Option<String> {
        match &self.wants {
            Wants::Session(_) => None,
            Wants::Listed { id, .. } => {
                let result = RawValue::from_string(tagged(id, "")).unwrap_or_default();
                Some(Answer::Result(result).write(id, Era::Modern, Hints::Kind))
            }
        }
    }

    /// None ends the stream: there is nothing to see any more.
    fn take(&mut self, what: &Changed) -> Option<()> {
        match what {
            Changed::Policy | Changed::Keys => self.look()?,
            Changed::Resource { connection, uri } => {
                let view = self.view()?;
                let readable = view
                    .snapshot()
                    .context(*connection)
                    .is_some_and(|access| access.resources);
                if readable && self.wants_uri(uri) {
                    let mut params = String::from(r#""uri":"#);
                    push_text(&mut params, uri);
                    self.tell("notifications/resources/updated", &params);
                }
            }
            Changed::Approval(id) => self.announce(*id),
        }
        Some(())
    }

    /// Compares the lists with what was seen.
    fn look(&mut self) -> Option<()> {
        let now = self.view()?.marks();
        for (list, method) in LISTS.into_iter().enumerate() {
            let changed = self.marks.get(list) != now.get(list);
            let wanted = match &self.wants {
                Wants::Session(_) => true,
                Wants::Listed { lists, .. } => lists.get(list) == Some(&true),
            };
            if changed && wanted {
                self.tell(method, "");
            }
        }
        self.marks = now;
        if let Wants::Session(session) = &self.wants {
            session.saw(now);
        }
        Some(())
    }

    fn wants_uri(&self, uri: &str) -> bool {
        match &self.wants {
            Wants::Session(session) => session.is_subscribed(uri),
            Wants::Listed { uris, .. } => uris.contains(uri),
        }
    }

    fn announce(&mut self, id: ApprovalId) {
        if let Wants::Session(session) = &self.wants
            && session.announce(id)
        {
            self.tell(
                "notifications/elicitation/complete",
                &format!(r#""elicitationId":"{id}""#),
            );
        }
    }

    /// Queues a notification with these members as its params.
    fn tell(&mut self, method: &str, members: &str) {
        let params = match &self.wants {
            Wants::Session(_) if members.is_empty() => None,
            Wants::Session(_) => Some(format!("{{{members}}}")),
            Wants::Listed { id, .. } => Some(tagged(id, members)),
        };
        self.ready.push_back(notification(method, params.as_deref()));
    }

    /// None when there is nothing to see any more: the key was revoked, or the agent or connection is gone.
    fn view(&self) -> Option<Arc<View>> {
        let view = self.state.gateway.view(&self.key).ok()?;
        let over = is_over(&self.state, &self.key.principal, (&view, self.enabled));
        (!over).then_some(view)
    }
}

/// The next message, where somebody may say one.
async fn next(heard: &mut Option<mpsc::Receiver<String>>) -> Option<String> {
    match heard {
        Some(heard) => heard.recv().await,
        None => std::future::pending().await,
    }
}

/// Params that name the subscription they belong to (2026-07-28, subscriptions).
pub(super) fn tagged(id: &RawValue, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(
        r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}{comma}{members}}}"#,
        id.get()
    )
}
