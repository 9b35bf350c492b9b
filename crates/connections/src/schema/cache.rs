//! Compiled schemas, kept by the digest of what they were compiled from.

use std::sync::Arc;

use domain::Digest;
use moka::sync::Cache;
use serde_json::value::RawValue;

use super::{SchemaProblem, Validator, compile};

/// Compiled schemas, shared by everybody who checks arguments. Cheap to clone.
#[derive(Clone)]
pub struct Schemas {
    compiled: Cache<Digest, Entry>,
}

#[derive(Clone)]
struct Entry {
    result: Result<Arc<Validator>, SchemaProblem>,
    weight: u32,
}

/// Weight of one cached schema beyond its text, in bytes.
const OVERHEAD: usize = 2_048;
/// What compiling makes of a byte of schema text, roughly.
const GROWTH: usize = 8;

impl Schemas {
    /// A cache that holds about this many bytes of compiled schemas.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self {
            compiled: Cache::builder()
                .weigher(|_, entry: &Entry| entry.weight)
                .max_capacity(bytes)
                .build(),
        }
    }

    /// The validator for a schema, compiled once while it is kept. `digest` stands for the schema, or for the definition it is the
    /// input schema of; the same digest must always come with the same schema.
    ///
    /// # Errors
    /// The schema cannot be compiled; that is remembered too.
    pub fn get(&self, digest: Digest, raw: &RawValue) -> Result<Arc<Validator>, SchemaProblem> {
        let compile = || Entry {
            result: compile(raw).map(Arc::new),
            weight: u32::try_from(raw.get().len() * GROWTH + OVERHEAD).unwrap_or(u32::MAX),
        };
        match self.compiled.get(&digest) {
            Some(found) => found.result,
            None => self.compiled.get_with(digest, compile).result,
        }
    }
}

impl Default for Schemas {
    /// 64 MiB.
    fn default() -> Self {
        Self::new(64 * 1024 * 1024)
    }
}
