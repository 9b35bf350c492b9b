//! All valid access tokens in memory; the store is behind them.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use domain::{Clock, ConsentId, Identity, Principal, Timestamp, TokenId};
use store::{AccessToken, Store, StoreError};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use super::resource::endpoint;
use crate::opaque::Opaque;

/// Tokens that may be looked up in the database at once. What is not in memory may have been issued by another process a moment ago, or
/// be made up: those who make them up wait for each other and for nobody else.
const LOOKUPS: usize = 4;

/// Tokens of all tenants. Cheap to clone; checking one that is in memory takes no lock and no query.
#[derive(Clone)]
pub struct Tokens {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    reading: tokio::sync::Mutex<()>,
    clock: Clock,
    valid: ArcSwap<Table>,
    lookups: Semaphore,
}

#[derive(Clone, Default)]
struct Table {
    /// Which reading of the store it is.
    reading: u64,
    by_id: HashMap<TokenId, Valid>,
    /// Until when a consent has a token.
    until: HashMap<ConsentId, Timestamp>,
}

#[derive(Clone)]
struct Valid {
    principal: Principal,
    hash: [u8; 32],
    resource: Arc<str>,
    expires_at: Timestamp,
}

impl Tokens {
    /// Reads the valid tokens.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn load(store: Store, clock: Clock) -> Result<Self, StoreError> {
        let inner = Inner {
            store,
            reading: tokio::sync::Mutex::default(),
            clock,
            valid: ArcSwap::default(),
            lookups: Semaphore::new(LOOKUPS),
        };
        let tokens = Self {
            inner: Arc::new(inner),
        };
        tokens.refresh().await?;
        Ok(tokens)
    }

    /// Reads them again: whatever was revoked is gone after this.
    ///
    /// # Errors
    /// When the store cannot be read; the tokens so far stay valid.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        // One after the other: what was read earlier must not be put in place later.
        let _turn = self.inner.reading.lock().await;
        let read = self.inner.store.access_tokens().await?;
        let mut table = Table {
            reading: self.inner.valid.load().reading + 1,
            ..Table::default()
        };
        read.into_iter().for_each(|token| table.put(token));
        self.inner.valid.store(Arc::new(table));
        Ok(())
    }

    /// Whether a text claims to be an access token.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.starts_with("sb_token_")
    }

    /// The principal of a token, sent to the endpoint with this path. Unknown, lapsed, revoked and wrong ones, and those for another
    /// endpoint, are not told apart.
    pub async fn check(&self, text: &str, path: &str) -> Option<Principal> {
        let given = Opaque::parse(text).filter(|given| given.kind == "token")?;
        let id = TokenId::from_uuid(given.id);
        let known = self.inner.valid.load().by_id.get(&id).cloned();
        let known = match known {
            Some(known) => known,
            None => self.look_up(id).await?,
        };
        let same = bool::from(known.hash.ct_eq(&given.hash));
        let fits = known.expires_at > self.inner.clock.now() && endpoint(path) == Some(&*known.resource);
        (same && fits).then_some(known.principal)
    }

    /// Whether a principal that was proven once still is.
    #[must_use]
    pub fn holds(&self, principal: &Principal) -> bool {
        let Identity::Client { consent, .. } = principal.identity else {
            return false;
        };
        let until = self.inner.valid.load().until.get(&consent).copied();
        until.is_some_and(|until| until > self.inner.clock.now())
    }

    async fn look_up(&self, id: TokenId) -> Option<Valid> {
        let _turn = self.inner.lookups.acquire().await.ok()?;
        let found = self.read(id).await;
        found.unwrap_or_else(|error| {
            tracing::warn!(%error, "a token cannot be looked up");
            None
        })
    }

    async fn read(&self, id: TokenId) -> Result<Option<Valid>, StoreError> {
        loop {
            let reading = self.inner.valid.load().reading;
            let Some(found) = self.inner.store.access_token(id).await? else {
                return Ok(None);
            };
            // Seldom: once for every token issued since they were all read. What was read before the table was read anew may be
            // revoked by now: then once more.
            self.inner.valid.rcu(|table| {
                let mut table = Table::clone(table);
                if table.reading == reading {
                    table.put(found.clone());
                }
                table
            });
            let table = self.inner.valid.load();
            if table.reading == reading {
                return Ok(table.by_id.get(&id).cloned());
            }
        }
    }
}

impl Table {
    fn put(&mut self, token: AccessToken) {
        let identity = Identity::Client {
            consent: token.consent,
            agent: token.agent,
        };
        let until = self.until.entry(token.consent).or_insert(token.expires_at);
        *until = token.expires_at.max(*until);
        let valid = Valid {
            principal: Principal {
                tenant: token.tenant,
                identity,
            },
            hash: token.hash,
            resource: token.resource,
            expires_at: token.expires_at,
        };
        self.by_id.insert(token.id, valid);
    }
}
