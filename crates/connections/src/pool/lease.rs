//! The use of a session for one call.

use std::sync::{Arc, Mutex};

use domain::{ClientContext, Sharing};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::{Line, Live, Settings, lock};
use crate::connections::Inner;
use crate::{ConnectionError, SessionKey};

/// The use of a session for one call; given back when dropped.
pub(crate) struct Lease {
    pub(crate) live: Arc<Live>,
    inner: Arc<Inner>,
    /// Whether the session is this call's alone and ends with it.
    once: bool,
    _turn: Arc<Turn>,
}

/// One of the calls a connection may have in flight.
pub(crate) struct Turn(Mutex<Option<OwnedSemaphorePermit>>);

impl Turn {
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> Self {
        Self(Mutex::new(Some(permit)))
    }

    /// Lets another call go ahead: this one waits for its client, which is no work for the server and may take minutes.
    pub(crate) fn give_back(&self) {
        let permit = lock(&self.0).take();
        drop(permit);
    }
}

impl Inner {
    /// The session for a call, opened if need be.
    pub(crate) async fn lease(
        self: &Arc<Self>,
        line: &Arc<Line>,
        settings: &Arc<Settings>,
        (key, client): (&SessionKey, &ClientContext),
        (turn, deadline): (Arc<Turn>, Instant),
    ) -> Result<Lease, ConnectionError> {
        let (live, once) = match settings.connection.sharing {
            Sharing::Shared => (self.shared(line, settings, deadline).await?, false),
            Sharing::PerSession => (self.own(line, settings, (key, client), deadline).await?, false),
            Sharing::PerCall => {
                let opened =
                    timeout_at(deadline, self.open(line, settings, Some((None, client.clone())))).await;
                (opened.map_err(|_| late())??, true)
            }
        };
        live.enter();
        Ok(Lease {
            live,
            inner: self.clone(),
            once,
            _turn: turn,
        })
    }

    /// The session all share.
    pub(crate) async fn shared(
        self: &Arc<Self>,
        line: &Arc<Line>,
        settings: &Arc<Settings>,
        deadline: Instant,
    ) -> Result<Arc<Live>, ConnectionError> {
        let generation = settings.generation;
        if let Some(live) = line.shared.live(generation) {
            return Ok(live);
        }
        let (opening, before) = line
            .shared
            .open(generation, || self.opening(line, settings, None));
        if let Some(before) = before {
            line.restarted();
            self.close_later(before);
        }
        timeout_at(deadline, opening).await.map_err(|_| late())?
    }

    async fn own(
        self: &Arc<Self>,
        line: &Arc<Line>,
        settings: &Arc<Settings>,
        (key, client): (&SessionKey, &ClientContext),
        deadline: Instant,
    ) -> Result<Arc<Live>, ConnectionError> {
        let generation = settings.generation;
        let slot = line.own.entry(key.clone()).or_default().clone();
        if let Some(live) = slot.live(generation) {
            return Ok(live);
        }
        let own = || Some((key.clone(), client.clone()));
        let (opening, before) = slot.open(generation, || self.opening(line, settings, own()));
        if let Some(before) = before {
            line.restarted();
            self.close_later(before);
        }
        timeout_at(deadline, opening).await.map_err(|_| late())?
    }

    /// Takes a session out of use, because it does not answer as one any more.
    pub(crate) fn discard(&self, line: &Line, gone: &Arc<Live>) {
        line.shared.discard(gone);
        for slot in &line.own {
            slot.discard(gone);
        }
        line.restarted();
        self.close_later(gone.clone());
    }

    /// Closes a session in a task of its own.
    pub(crate) fn close_later(&self, live: Arc<Live>) {
        self.tasks
            .spawn_on(async move { live.close().await }, &self.runtime);
    }
}

impl Lease {
    /// Whether the session is this call's alone. Then nobody else knows of it, and so nobody else ends it.
    pub(crate) const fn alone(&self) -> bool {
        self.once
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.live.leave();
        if self.once {
            self.inner.close_later(self.live.clone());
        }
    }
}

fn late() -> ConnectionError {
    ConnectionError::Late
}
