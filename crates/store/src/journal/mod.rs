//! The record: intents before acts, and everything that happened.

use domain::{ApprovalId, CallId, Entry, Epoch, Tenant};

use crate::{IntentError, Store, StoreError};

/// Proof that a call's intent is stored. Not to be cloned: one intent, one act.
#[derive(Debug)]
pub struct Intent {
    call: CallId,
}

impl Intent {
    /// Whose intent it is.
    #[must_use]
    pub const fn call(&self) -> CallId {
        self.call
    }
}

/// An entry on its way to the database.
#[derive(Debug)]
#[must_use = "a result may leave only after its record was written"]
pub struct Recorded {}

/// What the writer did since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriterCounts {
    /// Commits.
    pub commits: u64,
    /// Entries written.
    pub entries: u64,
    /// Intents stored.
    pub intents: u64,
    /// Entries waiting now.
    pub queued: usize,
}

impl Recorded {
    /// Waits until the row has reached the operating system.
    ///
    /// # Errors
    /// `Unavailable` when it could not be written.
    pub async fn written(self) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
    }
}

impl Store {
    /// Stores the intent of a call that may change something. When this returns, it is durable.
    ///
    /// `entry` is the decision (`Fact::Decided`, allowed, mutating). The epoch is compared, and an approval spent, in the
    /// transaction that stores it; calls that come at the same time share a commit.
    ///
    /// # Errors
    /// Then nothing is stored, and nothing may be sent.
    pub async fn begin_intent(
        &self,
        tenant: Tenant,
        entry: Entry,
        expected: Epoch,
        spend: Option<ApprovalId>,
    ) -> Result<Intent, IntentError> {
        Err(IntentError::Unavailable(StoreError::Unimplemented))
    }

    /// Hands an entry to the writer: decisions about calls that only read, refusals, and outcomes. Does not wait; an entry that
    /// was taken is written again and again until it is in.
    ///
    /// # Errors
    /// `Unavailable` when too much waits or the writer fails; then the call must be refused.
    pub fn record(&self, tenant: Tenant, entry: Entry) -> Result<Recorded, StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// What the writer did so far.
    #[must_use]
    pub fn writer_counts(&self) -> WriterCounts {
        WriterCounts::default()
    }
}
