//! Requests that may be repeated without happening twice.

use domain::{Digest, Tenant};

use crate::{Store, StoreError};

/// A request that carries an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// Who asks: the member's or key's id.
    pub principal: String,
    /// The key the caller chose; 1 to 255 printable ASCII characters.
    pub key: String,
    /// The operation's id.
    pub operation: String,
    /// The digest of the request's body.
    pub body: Digest,
}

/// What is known about such a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Idempotency {
    /// Nothing: go on, then complete or abandon it.
    Fresh,
    /// It was answered so.
    Replay {
        /// The HTTP status.
        status: u16,
        /// The body.
        body: Vec<u8>,
    },
    /// The key was used for another request.
    Conflict,
    /// It is being worked on.
    InProgress,
}

impl Store {
    /// Asks what is known about a request and claims it when that is nothing. A claim lapses after five minutes, an answer after 24 hours.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn idempotent(
        &self,
        tenant: Tenant,
        request: &IdempotentRequest,
    ) -> Result<Idempotency, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Stores the answer of a claimed request.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn complete_idempotent(
        &self,
        tenant: Tenant,
        request: &IdempotentRequest,
        status: u16,
        body: &[u8],
    ) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Gives a claimed request up, so that it can be made again.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn abandon_idempotent(
        &self,
        tenant: Tenant,
        request: &IdempotentRequest,
    ) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// Drops what has lapsed; says how many.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn purge_idempotent(&self) -> Result<u64, StoreError> {
        Err(StoreError::Unimplemented)
    }
}
