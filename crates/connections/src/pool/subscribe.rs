//! Hearing of changes: what a server is asked to tell us of, and who wants to hear it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mcp::version::Era;
use mcp::wire::{Object, WireError};
use mcp::{Request, RequestError, Silent};
use tokio::time::Instant;

use super::ears::Ears;
use super::line::lock;
use super::settings::Hidden;
use super::{Line, Live};
use crate::SessionKey;
use crate::connections::Inner;

impl Inner {
    /// Asks a server, in the background, for news of everything wanted, by anybody or by this one. Servers that have none are not asked.
    pub(super) fn hear(self: &Arc<Self>, line: &Arc<Line>, live: &Arc<Live>, key: Option<SessionKey>) {
        let (inner, line, live) = (self.clone(), line.clone(), live.clone());
        let task = async move {
            let deadline = Instant::now() + inner.limits.call;
            if let Err(error) = inner.ask_for_news(&line, &live, key.as_ref(), deadline).await {
                tracing::debug!(%error, connection = %line.id, "a server does not tell of changes");
            }
        };
        self.tasks.spawn_on(task, &self.runtime);
    }

    /// Asks for news of the lists and of the resources that are wanted, by anybody or by this one. On a modern server this takes the
    /// place of what was asked before.
    pub(crate) async fn ask_for_news(
        self: &Arc<Self>,
        line: &Arc<Line>,
        live: &Arc<Live>,
        key: Option<&SessionKey>,
        deadline: Instant,
    ) -> Result<(), RequestError> {
        match live.era() {
            Era::Modern => {
                let _asking = live.asking.lock().await;
                let Some(filter) = filter(live, &line.wanted_by(key)).map_err(unsendable)? else {
                    return Ok(());
                };
                let ears = Ears {
                    owner: None,
                    inner: Arc::downgrade(self),
                    line: Arc::downgrade(line),
                    // Lines are heard by the session's own listener.
                    hidden: Hidden::default(),
                    opened: Instant::now(),
                    process: false,
                    kept: false,
                    expected_end: Arc::new(AtomicBool::new(true)),
                };
                let listening = live.upstream.listen(&filter, Arc::new(ears)).await?;
                // Only now the earlier one ends: nothing is missed in between.
                drop(lock(&live.subscription).replace(listening));
                Ok(())
            }
            Era::Legacy => {
                for uri in line.wanted_by(key) {
                    subscribe(live, "resources/subscribe", &uri, deadline).await?;
                }
                Ok(())
            }
        }
    }
}

/// Subscribes a legacy server's session to a resource, or takes that back.
pub(crate) async fn subscribe(
    live: &Live,
    method: &'static str,
    uri: &str,
    deadline: Instant,
) -> Result<(), RequestError> {
    let params = Object::new().with("uri", uri).map_err(unsendable)?;
    live.upstream
        .request(Request::new(method, params, deadline), Arc::new(Silent))
        .await
        .map(drop)
}

impl Line {
    /// The resources somebody wants to hear of: anybody, or this one.
    pub(crate) fn wanted_by(&self, key: Option<&SessionKey>) -> Vec<Arc<str>> {
        let wanted = lock(&self.wanted);
        let of = wanted
            .iter()
            .filter(|(_, who)| key.is_none_or(|key| who.contains(key)));
        of.map(|(uri, _)| uri.clone()).collect()
    }

    /// Notes who wants to hear of a resource; says whether nobody did before.
    pub(crate) fn want(&self, uri: &Arc<str>, key: &SessionKey) -> bool {
        let mut wanted = lock(&self.wanted);
        let who = wanted.entry(uri.clone()).or_default();
        let first = who.is_empty();
        who.insert(key.clone());
        first
    }

    /// Forgets that somebody wants to hear of a resource; says whether nobody is left.
    pub(crate) fn unwant(&self, uri: &Arc<str>, key: &SessionKey) -> bool {
        let mut wanted = lock(&self.wanted);
        let Some(who) = wanted.get_mut(uri) else {
            return false;
        };
        let last = who.remove(key) && who.is_empty();
        if last {
            wanted.remove(uri);
        }
        last
    }

    /// Forgets everything somebody wants; the resources nobody wants any more.
    pub(crate) fn unwant_all(&self, key: &SessionKey) -> Vec<Arc<str>> {
        let theirs = self.wanted_by(Some(key));
        theirs.into_iter().filter(|uri| self.unwant(uri, key)).collect()
    }
}

/// What to ask a modern server for; nothing if it has no news to give.
fn filter(live: &Live, uris: &[Arc<str>]) -> Result<Option<Object>, WireError> {
    let server = live.upstream.server();
    let mut filter = Object::new();
    for (capability, key) in [
        ("tools", "toolsListChanged"),
        ("prompts", "promptsListChanged"),
        ("resources", "resourcesListChanged"),
    ] {
        if server.declares_flag(capability, "listChanged") {
            filter.set(key, &true)?;
        }
    }
    if !uris.is_empty() {
        let uris: Vec<&str> = uris.iter().map(|uri| &**uri).collect();
        filter.set("resourceSubscriptions", &uris)?;
    }
    Ok((!filter.is_empty()).then_some(filter))
}

fn unsendable(error: WireError) -> RequestError {
    RequestError::Unsendable(error.to_string())
}
