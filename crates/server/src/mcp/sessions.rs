//! All sessions of this process: bounded, each bound to one principal and one endpoint.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::Principal;
use gateway::Gateway;
use tokio_util::sync::CancellationToken;

use super::operator::Catalogue;
use super::parked::Parked;
use super::place::Place;
use super::seal::{Seal, random};
use super::session::{Opening, Session};
use crate::state::SessionLimits;

/// A session that was silent for this long makes room for a new one when there is none left.
const YIELDS: Duration = Duration::from_secs(60);

/// The sessions, and calls that wait for their clients. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Sessions {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    limits: SessionLimits,
    table: RwLock<HashMap<Arc<str>, Arc<Session>>>,
    pub(super) parked: Parked,
    pub(super) seal: Seal,
    pub(super) operator: Catalogue,
    /// Streams of changes that belong to no session, by whose they are.
    listening: Mutex<HashMap<Principal, usize>>,
    /// Ends every standing stream when the server stops.
    pub(super) closing: CancellationToken,
}

/// Why there is no new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoSession {
    /// Too many are in use.
    Full,
    /// The operating system gives no random numbers.
    NoRandom,
}

/// A stream of changes that is open, counted while this lives.
pub(super) struct Listening {
    sessions: Sessions,
    owner: Principal,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let listening = &self.sessions.inner.listening;
        let mut open = listening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.owner);
            }
        }
    }
}

impl Sessions {
    /// None yet.
    pub(crate) fn new(limits: SessionLimits) -> Self {
        let inner = Inner {
            limits,
            table: RwLock::default(),
            parked: Parked::default(),
            seal: Seal::default(),
            operator: Catalogue::default(),
            listening: Mutex::default(),
            closing: CancellationToken::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// A place for a stream of changes that belongs to no session; none when this principal has too many.
    pub(super) fn listen(&self, owner: Principal) -> Option<Listening> {
        let listening = &self.inner.listening;
        let mut open = listening.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(owner).or_default();
        if *count >= self.inner.limits.per_key {
            return None;
        }
        *count += 1;
        Some(Listening {
            sessions: self.clone(),
            owner,
        })
    }

    /// A new id: 128 random bits.
    pub(super) fn new_id() -> Option<Arc<str>> {
        let bytes: [u8; 16] = random()?;
        Some(URL_SAFE_NO_PAD.encode(bytes).into())
    }

    /// Ends every standing stream: the server stops.
    pub(crate) fn close(&self) {
        self.inner.closing.cancel();
    }

    /// Opens a session, where needed in place of one nobody uses.
    pub(super) fn open(&self, gateway: &Gateway, opening: Opening) -> Result<Arc<Session>, NoSession> {
        let session = Arc::new(Session::new(opening, self.inner.closing.clone()));
        let SessionLimits { total, per_key, idle } = self.inner.limits;
        let gone = {
            let mut table = self.inner.table.write().unwrap_or_else(PoisonError::into_inner);
            let mut gone: Vec<Arc<Session>> = Vec::new();
            if table.len() >= total || table.len().is_multiple_of(64) {
                gone.extend(
                    table
                        .extract_if(|_, session| session.idle() > idle)
                        .map(|(_, session)| session),
                );
            }
            let theirs = table
                .values()
                .filter(|other| other.owner == session.owner)
                .count();
            if theirs >= per_key || table.len() >= total {
                let yields = table
                    .values()
                    .filter(|other| {
                        (theirs < per_key || other.owner == session.owner) && other.idle() > YIELDS
                    })
                    .max_by_key(|other| other.idle())
                    .map(|other| other.id.clone());
                let id = yields.ok_or(NoSession::Full)?;
                gone.extend(table.remove(&id));
            }
            table.insert(session.id.clone(), session.clone());
            gone
        };
        gone.iter().for_each(|session| ended(gateway, session));
        Ok(session)
    }

    /// The session with this id, if it is this principal's at this endpoint. Another's does not exist for them.
    pub(super) fn find(
        &self,
        gateway: &Gateway,
        id: &str,
        who: (&Principal, &Place),
    ) -> Option<Arc<Session>> {
        let found = self
            .inner
            .table
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned()?;
        if found.owner != *who.0 || found.place != *who.1 {
            return None;
        }
        if found.idle() > self.inner.limits.idle || found.lost_agent(gateway) {
            self.end(gateway, &found);
            return None;
        }
        found.touch();
        Some(found)
    }

    /// Ends every session of this kind.
    pub(super) fn end_where(&self, gateway: &Gateway, which: impl Fn(&Session) -> bool) {
        let gone: Vec<Arc<Session>> = {
            let table = self.inner.table.read().unwrap_or_else(PoisonError::into_inner);
            table.values().filter(|session| which(session)).cloned().collect()
        };
        gone.iter().for_each(|session| self.end(gateway, session));
    }

    /// Ends a session.
    pub(super) fn end(&self, gateway: &Gateway, session: &Session) {
        let removed = self
            .inner
            .table
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&session.id);
        if removed.is_some() {
            ended(gateway, session);
        }
    }
}

fn ended(gateway: &Gateway, session: &Session) {
    session.end();
    gateway.end_session(&session.id, &session.owner, session.agent);
}
