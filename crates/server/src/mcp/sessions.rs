//! All sessions of this process: bounded, each bound to one principal and one endpoint.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
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

/// Sessions of one principal.
const PER_PRINCIPAL: usize = 256;
/// Sessions in all.
const TOTAL: usize = 10_000;
/// How long a session without a sign of life is kept.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// A session that was silent for this long makes room for a new one when there is none left.
const YIELDS: Duration = Duration::from_secs(60);

/// The sessions, and calls that wait for their clients. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Sessions {
    pub(super) inner: Arc<Inner>,
}

#[derive(Default)]
pub(super) struct Inner {
    table: RwLock<HashMap<Arc<str>, Arc<Session>>>,
    pub(super) parked: Parked,
    pub(super) seal: Seal,
    pub(super) operator: Catalogue,
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

impl Sessions {
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
        let session = Arc::new(Session::new(opening, self.inner.closing.child_token()));
        let gone = {
            let mut table = self.inner.table.write().unwrap_or_else(PoisonError::into_inner);
            let mut gone: Vec<Arc<Session>> = Vec::new();
            if table.len() >= TOTAL || table.len().is_multiple_of(64) {
                gone.extend(
                    table
                        .extract_if(|_, session| session.idle() > IDLE)
                        .map(|(_, session)| session),
                );
            }
            let theirs = table
                .values()
                .filter(|other| other.owner == session.owner)
                .count();
            if theirs >= PER_PRINCIPAL || table.len() >= TOTAL {
                let yields = table
                    .values()
                    .filter(|other| {
                        (theirs < PER_PRINCIPAL || other.owner == session.owner) && other.idle() > YIELDS
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
        if found.idle() > IDLE || found.lost_agent(gateway) {
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
