//! How a store is opened.

use std::path::PathBuf;
use std::time::Duration;

use domain::{Clock, Secret};

use crate::RootKeys;

/// Which database.
#[derive(Debug, Clone)]
pub enum Backend {
    /// A file on this machine; made when it is missing.
    Sqlite {
        /// The database file. `-wal`, `-shm` and `.lock` files lie beside it.
        path: PathBuf,
    },
    /// A PostgreSQL server.
    Postgres {
        /// `postgres://user:password@host:port/database`.
        url: Secret,
        /// Most connections this process opens.
        max_connections: u32,
    },
}

/// What an acknowledged intent survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Loss of power: the disk has it.
    #[default]
    PowerCut,
    /// The end of our process: the operating system has it.
    ProcessCrash,
}

/// What this process does with the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Serves from it: there is one such process per SQLite file; calls it finds without an outcome are marked unknown, and it chains the record.
    #[default]
    Serve,
    /// Works beside a server, as an import does: marks nothing, chains nothing.
    Beside,
}

/// Bounds of the journal's writer.
#[derive(Debug, Clone, Copy)]
pub struct JournalLimits {
    /// Most entries that wait to be written; beyond them, recording fails at once.
    pub queue: usize,
    /// Most entries of one commit.
    pub batch: usize,
    /// Longest time that entries nobody waits for wait for others to share their commit.
    pub linger: Duration,
    /// On SQLite, longest time until records of read-only calls are on disk.
    pub sync_within: Duration,
    /// Longest time until new entries are part of the chain.
    pub chain_within: Duration,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self {
            queue: 16_384,
            batch: 512,
            linger: Duration::from_millis(5),
            sync_within: Duration::from_millis(50),
            chain_within: Duration::from_millis(500),
        }
    }
}

/// Connections of its own that an agent may have, where nothing else is said.
const CONNECTIONS_PER_AGENT: u32 = 3;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which database.
    pub backend: Backend,
    /// Where wall-clock time comes from.
    pub clock: Clock,
    /// What an acknowledged intent survives.
    pub durability: Durability,
    /// What this process does with the database.
    pub role: Role,
    /// The vault's root keys.
    pub keys: RootKeys,
    /// Bounds of the journal's writer.
    pub journal: JournalLimits,
    /// How many connections of its own an agent may have, disabled ones too.
    pub connections_per_agent: u32,
}

impl Options {
    /// A serving process with a SQLite file, and the usual rest.
    #[must_use]
    pub fn sqlite(path: impl Into<PathBuf>, keys: RootKeys) -> Self {
        Self::new(Backend::Sqlite { path: path.into() }, keys)
    }

    /// A serving process, and the usual rest.
    #[must_use]
    pub fn new(backend: Backend, keys: RootKeys) -> Self {
        Self {
            backend,
            clock: Clock::System,
            durability: Durability::default(),
            role: Role::default(),
            keys,
            journal: JournalLimits::default(),
            connections_per_agent: CONNECTIONS_PER_AGENT,
        }
    }
}
