//! What can go wrong in the store.

use domain::Epoch;
use sea_orm::sqlx::Error as SqlxError;
use sea_orm::{DbErr, RuntimeErr};

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing by that id or name in this tenant.
    #[error("{what} not found")]
    NotFound {
        /// What kind of thing.
        what: &'static str,
    },
    /// Something else already has this name.
    #[error("{what} is already taken; choose another")]
    Conflict {
        /// Which name: `agent handle`, `connection label`, `connection namespace`.
        what: &'static str,
    },
    /// It was changed since the caller read it.
    #[error(
        "{what} is at version {current}, not at the expected {expected}; read it again and repeat the change"
    )]
    Version {
        /// What kind of thing.
        what: &'static str,
        /// The version the caller saw.
        expected: u32,
        /// The version it has.
        current: u32,
    },
    /// There are as many as there may be.
    #[error("there are {max} {what} already, which is the most there may be; remove one, or raise the limit")]
    Full {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        max: u32,
    },
    /// The question was answered, spent or has lapsed.
    #[error("the approval is {state} already and cannot be answered")]
    NotPending {
        /// Where it stands.
        state: domain::ApprovalState,
    },
    /// A page cursor that this list did not give.
    #[error("the cursor is not one this list gave; start again without it")]
    BadCursor,
    /// Something contradicts itself and would come back as something else.
    #[error("the {what} cannot be stored: {reason}")]
    Unsound {
        /// What.
        what: &'static str,
        /// What is wrong with it, and what to do.
        reason: &'static str,
    },
    /// Something is larger than the store takes.
    #[error("{what} has {size} bytes, at most {max} are stored")]
    TooLarge {
        /// What.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The record cannot be written, so nothing may happen.
    #[error("the record cannot be written: {reason}")]
    Unavailable {
        /// Why.
        reason: &'static str,
    },
    /// Another process serves from this database.
    #[error("another process is serving from {what}; stop it first")]
    InUse {
        /// The lock that is held.
        what: String,
    },
    /// The database was written by a newer release.
    #[error("the database has migration `{found}`, which this release does not know; use the newer release")]
    NewerSchema {
        /// The unknown migration.
        found: String,
    },
    /// A stored document that this release cannot read.
    #[error("a stored {what} cannot be read: {why}")]
    Corrupt {
        /// What kind of document.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The vault said no.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The database's files could not be prepared.
    #[error("cannot prepare {path}")]
    File {
        /// Which file or folder.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The database said no.
    #[error("the database failed")]
    Database(#[from] sea_orm::DbErr),
}

impl StoreError {
    /// Whether it is the state of the database and not what was asked: it is gone, busy or full. Then nothing was done, and trying again
    /// later is of use.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unavailable { .. } => true,
            Self::Database(error) => passes(error),
            _ => false,
        }
    }
}

fn passes(error: &DbErr) -> bool {
    let (DbErr::Conn(RuntimeErr::SqlxError(error))
    | DbErr::Exec(RuntimeErr::SqlxError(error))
    | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return matches!(error, DbErr::ConnectionAcquire(_));
    };
    match &**error {
        SqlxError::Io(_) | SqlxError::PoolTimedOut | SqlxError::Protocol(_) => true,
        SqlxError::Database(error) => error.code().is_some_and(|code| passing_code(&code)),
        _ => false,
    }
}

/// SQLSTATE (PostgreSQL, appendix A): connection exceptions, insufficient resources, an operator's intervention, locks, conflicts
/// of transactions. Result codes of SQLite (their last byte): BUSY, LOCKED, IOERR, FULL, CANTOPEN.
fn passing_code(code: &str) -> bool {
    if code.len() == 5
        && ["08", "53", "57", "55", "40"]
            .iter()
            .any(|class| code.starts_with(class))
    {
        return true;
    }
    let number = code.parse::<u32>().unwrap_or_default();
    number < 10_000 && matches!(number & 0xff, 5 | 6 | 10 | 13 | 14)
}

/// Why a secret cannot be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// The root key is not the one the vault was made with.
    #[error(
        "the vault was made with another root key ({expected}); give that key, as the current or a previous one"
    )]
    WrongKey {
        /// The id of the key it was made with.
        expected: String,
    },
    /// No known root key has this id.
    #[error("a secret is sealed with root key {id}, which was not given; add it as a previous key")]
    UnknownKey {
        /// The key's id.
        id: String,
    },
    /// The text is not a root key.
    #[error("not a root key: expected 32 bytes as base64")]
    BadKey,
    /// A record was changed, moved, or is not one.
    #[error("a sealed record does not open: it was changed or belongs elsewhere")]
    Sealed,
    /// The operating system gives no random numbers.
    #[error("no random numbers from the operating system")]
    NoRandom,
}

/// Why an intent was not stored. Nothing may be sent.
#[derive(Debug, thiserror::Error)]
pub enum IntentError {
    /// The policy changed since the decision; decide again.
    #[error("the policy changed to epoch {}; the call must be decided again", now.0)]
    EpochMoved {
        /// The epoch that holds now.
        now: Epoch,
    },
    /// The approval was spent, has expired, or was never given.
    #[error("the approval is spent, expired or not given")]
    ApprovalGone,
    /// The record cannot be written.
    #[error("the intent cannot be stored: {0}")]
    Unavailable(#[source] StoreError),
}
