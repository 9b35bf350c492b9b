//! All valid keys in memory; the store is behind them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use domain::{Clock, Identity, KeyId, KeyKind, Principal, Secret, Tenant, Timestamp};
use store::{KeyRecord, Store, StoreError};
use subtle::ConstantTimeEq;

use crate::{KeyText, KeyTextError};

/// Why a key could not be made.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The given text is not a key.
    #[error(transparent)]
    Text(#[from] KeyTextError),
    /// The operating system gives no random numbers.
    #[error("no random numbers from the operating system")]
    NoRandom,
}

/// A new key and its secret, which is never shown again.
#[derive(Debug)]
pub struct CreatedKey {
    /// What is stored.
    pub record: KeyRecord,
    /// The key's text.
    pub secret: Secret,
}

#[derive(Debug, Clone, Copy)]
struct Valid {
    principal: Principal,
    hash: [u8; 32],
}

/// Makes a key; nothing is stored.
///
/// # Errors
/// When the operating system gives no random numbers.
pub fn new_key(kind: KeyKind, name: &str, now: Timestamp) -> Result<CreatedKey, IdentityError> {
    let word = match kind {
        KeyKind::Admin => "admin",
        KeyKind::Agent(_) => "agent",
    };
    let secret = KeyText::generate(word, KeyId::generate()).map_err(|_| IdentityError::NoRandom)?;
    given_key(kind, name, now, secret)
}

/// Takes in a key whose text was made elsewhere, as automation does for the first administrator's key; nothing is stored.
///
/// # Errors
/// When the text is not a key's.
pub fn given_key(
    kind: KeyKind,
    name: &str,
    now: Timestamp,
    secret: Secret,
) -> Result<CreatedKey, IdentityError> {
    let text = KeyText::parse(secret.expose())?;
    let record = KeyRecord {
        id: text.id,
        kind,
        name: name.to_owned(),
        secret_hash: text.hash,
        created_at: now,
        last_used_at: None,
        revoked_at: None,
    };
    Ok(CreatedKey { record, secret })
}

/// Keys of all tenants. Cheap to clone; checking one takes no lock and no query.
#[derive(Clone)]
pub struct Keys {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    reading: tokio::sync::Mutex<()>,
    clock: Clock,
    valid: ArcSwap<HashMap<KeyId, Valid>>,
    /// Uses since they were last written down.
    used: Mutex<HashMap<KeyId, (Tenant, Timestamp)>>,
}

/// A use is noted when the last noted one is older than this.
const NOTE_AFTER: Duration = Duration::from_secs(60);

impl Keys {
    /// Reads the valid keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn load(store: Store, clock: Clock) -> Result<Self, StoreError> {
        let inner = Inner {
            store,
            reading: tokio::sync::Mutex::default(),
            clock,
            valid: ArcSwap::default(),
            used: Mutex::default(),
        };
        let keys = Self {
            inner: Arc::new(inner),
        };
        keys.refresh().await?;
        Ok(keys)
    }

    /// Reads the valid keys again.
    ///
    /// # Errors
    /// When the store cannot be read; the keys so far stay valid.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        // One after the other: what was read earlier must not be put in place later.
        let _turn = self.inner.reading.lock().await;
        let records = self.inner.store.active_keys().await?;
        let valid = records
            .into_iter()
            .map(|(tenant, record)| {
                let identity = Identity::Key {
                    id: record.id,
                    kind: record.kind,
                };
                (
                    record.id,
                    Valid {
                        principal: Principal { tenant, identity },
                        hash: record.secret_hash,
                    },
                )
            })
            .collect();
        self.inner.valid.store(Arc::new(valid));
        Ok(())
    }

    /// The principal of a key's text. An unknown, a revoked and a wrong key are not told apart.
    #[must_use]
    pub fn check(&self, text: &str) -> Option<Principal> {
        let given = KeyText::parse(text).ok()?;
        let valid = self.inner.valid.load();
        let found = valid.get(&given.id);
        // An unknown id costs the same comparison as a known one.
        let hash = found.map_or([0; 32], |valid| valid.hash);
        let same = bool::from(hash.ct_eq(&given.hash));
        let principal = found.filter(|_| same)?.principal;
        self.note_use(given.id, principal.tenant);
        Some(principal)
    }

    /// Whether a principal that was proven once still is: its key was not revoked meanwhile.
    #[must_use]
    pub fn holds(&self, principal: &Principal) -> bool {
        match principal.identity {
            Identity::Key { id, .. } => self
                .inner
                .valid
                .load()
                .get(&id)
                .is_some_and(|valid| valid.principal == *principal),
            // Tokens of clients are kept elsewhere.
            Identity::Client { .. } => false,
            Identity::Member { .. } | Identity::System => true,
        }
    }

    /// Writes down when keys were used last. Called now and then; what is lost when it is not is only that.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn write_uses(&self) -> Result<(), StoreError> {
        let used: Vec<_> = {
            let mut used = self.inner.used.lock().unwrap_or_else(PoisonError::into_inner);
            used.drain().map(|(id, (tenant, at))| (tenant, id, at)).collect()
        };
        if used.is_empty() {
            Ok(())
        } else {
            self.inner.store.touch_keys(&used).await
        }
    }

    fn note_use(&self, id: KeyId, tenant: Tenant) {
        // A busy lock means someone notes a use this very moment; that is good enough.
        if let Ok(mut used) = self.inner.used.try_lock() {
            let now = self.inner.clock.now();
            let fresh = used.get(&id).is_none_or(|(_, at)| now.since(*at) > NOTE_AFTER);
            if fresh {
                used.insert(id, (tenant, now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    /// Time tells nothing of a secret when what is compared is a digest, in constant time, at one place.
    #[test]
    fn secrets_are_compared_by_digest_in_constant_time_and_at_one_place() {
        let (source, _) = include_str!("keys.rs").split_once("#[cfg(test)]").unwrap();
        assert_eq!(source.matches(".ct_eq(").count(), 1);
        let others = source
            .lines()
            .filter(|line| line.contains("hash") || line.contains("secret") || line.contains("text"))
            .filter(|line| line.contains("==") || line.contains("!=") || line.contains(".eq("));
        assert_eq!(others.collect::<Vec<_>>(), Vec::<&str>::new());
    }
}
