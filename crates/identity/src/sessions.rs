//! All browsers that people are signed in with, in memory; the store is behind them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use domain::{BrowserSession, Clock, Identity, MemberId, Principal, Secret, SessionId, Timestamp};
use store::{LiveSession, NewSession, Store, StoreError};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use crate::IdentityError;
use crate::opaque::Opaque;

/// Sessions that are looked up in the database at once: made-up cookies wait for each other.
const LOOKUPS: usize = 4;
/// How long a browser stays signed in.
const FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Longest name of a browser that is kept, in characters.
const MOST_NAME: usize = 200;

/// Sessions of all tenants. Cheap to clone; checking one that is in memory takes no lock and no query.
#[derive(Clone)]
pub struct Sessions {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    reading: tokio::sync::Mutex<()>,
    clock: Clock,
    live: ArcSwap<Table>,
    lookups: Semaphore,
}

#[derive(Clone, Default)]
struct Table {
    /// Which reading of the store it is.
    reading: u64,
    live: HashMap<SessionId, LiveSession>,
}

/// Who a browser is signed in as.
#[derive(Debug, Clone, Copy)]
pub struct SignedIn {
    /// Who, and what they may do.
    pub principal: Principal,
    /// The member, once more.
    pub member: MemberId,
    /// With which session.
    pub session: SessionId,
}

/// A new session, not stored yet.
pub struct Begun {
    /// What the browser keeps.
    pub token: Secret,
    /// What is stored.
    pub new: NewSession,
}

/// Makes a session for a person who has proven who they are.
///
/// # Errors
/// When the operating system gives no random numbers.
pub fn begin(member: MemberId, browser: &str, now: Timestamp) -> Result<Begun, IdentityError> {
    let id = SessionId::generate();
    let (token, hash) = Opaque::generate("session", id.uuid()).map_err(|_| IdentityError::NoRandom)?;
    let browser = browser
        .chars()
        .filter(|c| !c.is_control())
        .take(MOST_NAME)
        .collect();
    let session = BrowserSession {
        id,
        member,
        browser,
        created_at: now,
        expires_at: now.plus(FOR),
    };
    Ok(Begun {
        token,
        new: NewSession { session, hash },
    })
}

impl Sessions {
    /// How long a browser stays signed in, in seconds.
    pub const SECONDS: u64 = FOR.as_secs();

    /// Reads the sessions that are good.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn load(store: Store, clock: Clock) -> Result<Self, StoreError> {
        let inner = Inner {
            store,
            reading: tokio::sync::Mutex::default(),
            clock,
            live: ArcSwap::default(),
            lookups: Semaphore::new(LOOKUPS),
        };
        let sessions = Self {
            inner: Arc::new(inner),
        };
        sessions.refresh().await?;
        Ok(sessions)
    }

    /// Reads them again: whoever was signed out is out after this, and whose role changed has the new one.
    ///
    /// # Errors
    /// When the store cannot be read; the sessions so far stay good.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        // One after the other: what was read earlier must not be put in place later.
        let _turn = self.inner.reading.lock().await;
        let read = self.inner.store.live_sessions().await?;
        let table = Table {
            reading: self.inner.live.load().reading + 1,
            live: read.into_iter().map(|session| (session.id, session)).collect(),
        };
        self.inner.live.store(Arc::new(table));
        Ok(())
    }

    /// Who a browser is signed in as that keeps this token.
    pub async fn check(&self, token: &str) -> Option<SignedIn> {
        let given = Opaque::parse(token).filter(|given| given.kind == "session")?;
        let id = SessionId::from_uuid(given.id);
        let known = self.inner.live.load().live.get(&id).cloned();
        let known = match known {
            Some(known) => known,
            // Another process may have signed them in a moment ago.
            None => self.look_up(id).await?,
        };
        let same = bool::from(known.hash.ct_eq(&given.hash)) && known.expires_at > self.inner.clock.now();
        same.then_some(SignedIn {
            principal: Principal {
                tenant: known.tenant,
                identity: Identity::Member {
                    id: known.member,
                    role: known.role,
                },
            },
            member: known.member,
            session: id,
        })
    }

    async fn look_up(&self, id: SessionId) -> Option<LiveSession> {
        let _turn = self.inner.lookups.acquire().await.ok()?;
        let reading = self.inner.live.load().reading;
        let found = match self.inner.store.live_session(id).await {
            Ok(found) => found?,
            Err(error) => {
                tracing::warn!(%error, "a session cannot be looked up");
                return None;
            }
        };
        self.inner.live.rcu(|table| {
            let mut table = Table::clone(table);
            // What was read before the table was read anew may have ended by now.
            if table.reading == reading {
                table.live.insert(id, found.clone());
            }
            table
        });
        let table = self.inner.live.load();
        if table.reading == reading {
            return Some(found);
        }
        table.live.get(&id).cloned()
    }
}
