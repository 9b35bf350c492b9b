//! The record: intents before acts, and everything that happened.

mod batch;
pub(crate) mod codec;
pub(crate) mod insert;
mod unknown;
mod writer;

use domain::{ApprovalId, CallId, Entry, Epoch, Tenant};
use tokio::sync::oneshot;

use crate::{IntentError, Store, StoreError};

pub(crate) use unknown::mark_unknown;
pub(crate) use writer::Writer;

/// Proof that a call's intent is stored. Not to be cloned: one intent, one act.
#[derive(Debug)]
pub struct Intent {
    call: CallId,
}

/// An entry on its way to the database.
#[derive(Debug)]
#[must_use = "a result may leave only after its record was written"]
pub struct Recorded {
    done: oneshot::Receiver<Written>,
}

/// What became of an entry: written, or why not yet.
type Written = Result<(), &'static str>;

/// What the writer did since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriterCounts {
    /// Commits.
    pub commits: u64,
    /// Entries written.
    pub entries: u64,
    /// Intents stored.
    pub intents: u64,
    /// Commits that stored at least one intent: calls that may change something share these.
    pub intent_commits: u64,
    /// Entries waiting now.
    pub queued: usize,
}

impl Intent {
    /// Whose intent it is.
    #[must_use]
    pub const fn call(&self) -> CallId {
        self.call
    }
}

impl Recorded {
    /// Waits until the row has reached the operating system.
    ///
    /// # Errors
    /// `Unavailable` when it could not be written at once; the writer goes on trying.
    pub async fn written(self) -> Result<(), StoreError> {
        let written = self.done.await.unwrap_or(Err("the store was closed"));
        written.map_err(|reason| StoreError::Unavailable { reason })
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
        let call = entry.call;
        self.writer()
            .intend(tenant, &entry, expected, spend)
            .await
            .map(|()| Intent { call })
    }

    /// Hands an entry to the writer: decisions about calls that only read, refusals, and outcomes. Does not wait; an entry that
    /// was taken is written again and again until it is in.
    ///
    /// # Errors
    /// `Unavailable` when too much waits or the writer fails; then the call must be refused.
    pub fn record(&self, tenant: Tenant, entry: Entry) -> Result<Recorded, StoreError> {
        self.writer().record(tenant, &entry)
    }

    /// Hands an entry to the writer that nobody waits for: the end of a call that only read. It shares the next commit, or has one of
    /// its own after `JournalLimits::linger`. Does not wait; an entry that was taken is written again and again until it is in.
    ///
    /// # Errors
    /// `Unavailable` when too much waits or the writer fails.
    pub fn record_later(&self, tenant: Tenant, entry: &Entry) -> Result<(), StoreError> {
        self.writer().record_later(tenant, entry)
    }

    /// What the writer did so far.
    #[must_use]
    pub fn writer_counts(&self) -> WriterCounts {
        self.writer().counts()
    }
}
