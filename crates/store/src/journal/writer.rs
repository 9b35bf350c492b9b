//! The one task that writes the record. It takes what waits and commits it together; only entries nobody waits for are kept for
//! company, and not for long.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use domain::{ApprovalId, Entry, Epoch, Tenant};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::batch;
use super::codec;
use super::insert::Placed;
use super::{Recorded, WriterCounts, Written};
use crate::core::Core;
use crate::{IntentError, JournalLimits, StoreError};

/// Shortest and longest pause between attempts while the database fails.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// How long whoever looks waits for what was handed over before.
const SETTLED: Duration = Duration::from_secs(1);

const FAILING: StoreError = StoreError::Unavailable {
    reason: "the database takes no entries at the moment",
};
const FULL: StoreError = StoreError::Unavailable {
    reason: "too many entries wait to be written",
};
const CLOSED: StoreError = StoreError::Unavailable {
    reason: "the store was closed",
};

/// The way to the writer task.
pub(crate) struct Writer {
    queue: mpsc::Sender<Job>,
    shared: Arc<Shared>,
}

#[derive(Default)]
pub(super) struct Shared {
    failing: AtomicBool,
    pub(super) commits: AtomicU64,
    pub(super) entries: AtomicU64,
    pub(super) intents: AtomicU64,
    pub(super) intent_commits: AtomicU64,
    /// Something was committed that is not on disk yet.
    pub(super) unsynced: Notify,
}

pub(super) enum Job {
    Intent(Box<IntentJob>),
    Record(Box<RecordJob>),
    /// Somebody wants what was handed over before to be in.
    Settle(oneshot::Sender<()>),
}

/// An intent on its way.
pub(super) struct IntentJob {
    pub(super) tenant: Tenant,
    pub(super) placed: Placed,
    pub(super) expected: Epoch,
    pub(super) spend: Option<ApprovalId>,
    pub(super) done: oneshot::Sender<Result<(), IntentError>>,
}

/// Another entry on its way.
pub(super) struct RecordJob {
    pub(super) organization: Uuid,
    pub(super) placed: Placed,
    /// Whoever waits; told once.
    done: Option<oneshot::Sender<Written>>,
    /// Nobody waits for it.
    patient: bool,
}

/// What the task carries from one batch to the next.
pub(super) struct State {
    pub(super) core: Arc<Core>,
    pub(super) shared: Arc<Shared>,
    /// Calls of this process whose intent is stored and whose outcome is not.
    pub(super) open: HashSet<Uuid>,
    /// Entries that could not be written yet.
    pub(super) pending: Vec<RecordJob>,
}

impl Writer {
    /// Starts the task.
    pub(crate) fn start(core: &Arc<Core>, tasks: &mut JoinSet<()>, stop: CancellationToken) -> Self {
        let limits = core.options.journal;
        let (queue, jobs) = mpsc::channel(limits.queue.max(1));
        let shared = Arc::new(Shared::default());
        if core.db.wal.is_some() {
            tasks.spawn(sync_forever(core.clone(), shared.clone(), stop.clone()));
        }
        let state = State {
            core: core.clone(),
            shared: shared.clone(),
            open: HashSet::new(),
            pending: Vec::new(),
        };
        tasks.spawn(write_forever(state, jobs, stop));
        Self { queue, shared }
    }

    /// Hands an intent over and waits until it is stored.
    pub(crate) async fn intend(
        &self,
        tenant: Tenant,
        entry: &Entry,
        expected: Epoch,
        spend: Option<ApprovalId>,
    ) -> Result<(), IntentError> {
        let (done, stored) = oneshot::channel();
        let placed = placed(tenant, entry).map_err(IntentError::Unavailable)?;
        let job = Job::Intent(Box::new(IntentJob {
            tenant,
            placed,
            expected,
            spend,
            done,
        }));
        self.send(job).map_err(IntentError::Unavailable)?;
        stored.await.unwrap_or(Err(IntentError::Unavailable(CLOSED)))
    }

    /// Hands an entry over.
    pub(crate) fn record(&self, tenant: Tenant, entry: &Entry) -> Result<Recorded, StoreError> {
        let (done, written) = oneshot::channel();
        let (organization, placed) = (tenant.organization.uuid(), placed(tenant, entry)?);
        self.send(Job::Record(Box::new(RecordJob {
            organization,
            placed,
            done: Some(done),
            patient: false,
        })))?;
        Ok(Recorded { done: written })
    }

    /// Hands an entry over that nobody waits for.
    pub(crate) fn record_later(&self, tenant: Tenant, entry: &Entry) -> Result<(), StoreError> {
        self.send(Job::Record(Box::new(RecordJob {
            organization: tenant.organization.uuid(),
            placed: placed(tenant, entry)?,
            done: None,
            patient: true,
        })))
    }

    /// Waits until what was handed over before is in, as far as the database takes it.
    pub(crate) async fn settle(&self) {
        let (done, settled) = oneshot::channel();
        if self.send(Job::Settle(done)).is_ok() {
            // A writer that is held up holds up nobody who only looks.
            drop(tokio::time::timeout(SETTLED, settled).await);
        }
    }

    /// Whether entries are refused because the database takes none.
    pub(crate) fn failing(&self) -> bool {
        self.shared.failing.load(Ordering::Relaxed)
    }

    pub(crate) fn counts(&self) -> WriterCounts {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        WriterCounts {
            commits: load(&self.shared.commits),
            entries: load(&self.shared.entries),
            intents: load(&self.shared.intents),
            intent_commits: load(&self.shared.intent_commits),
            queued: self.queue.max_capacity().saturating_sub(self.queue.capacity()),
        }
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        // What has taken place is waited with until the database takes it: what is refused does not take place.
        if self.failing() && !job.is_end() {
            return Err(FAILING);
        }
        self.queue.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => FULL,
            mpsc::error::TrySendError::Closed(_) => CLOSED,
        })
    }
}

impl Job {
    fn is_end(&self) -> bool {
        matches!(self, Self::Record(job) if job.placed.row.kind == "ended")
    }

    const fn is_patient(&self) -> bool {
        match self {
            Self::Record(job) => job.patient,
            Self::Intent(_) | Self::Settle(_) => false,
        }
    }
}

impl RecordJob {
    /// Tells whoever waits, the first time.
    pub(super) fn tell(&mut self, written: Written) {
        if let Some(done) = self.done.take() {
            // Whoever waited may have gone away.
            done.send(written).ok();
        }
    }
}

fn placed(tenant: Tenant, entry: &Entry) -> Result<Placed, StoreError> {
    Ok(Placed {
        workspace: tenant.workspace.uuid(),
        row: codec::encode(entry)?,
    })
}

async fn write_forever(mut state: State, mut jobs: mpsc::Receiver<Job>, stop: CancellationToken) {
    let limit = state.core.options.journal.batch.max(1);
    let mut taken = Vec::with_capacity(limit.min(256));
    let mut pause = PAUSES.0;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled(), if !jobs.is_closed() => jobs.close(),
            count = jobs.recv_many(&mut taken, limit), if state.pending.is_empty() => {
                if count == 0 {
                    return;
                }
            }
            // While entries are pending nothing else is taken: they come first.
            () = tokio::time::sleep(pause), if !state.pending.is_empty() => pause = (pause * 2).min(PAUSES.1),
        }
        if !taken.is_empty() && taken.len() < limit {
            tokio::select! {
                () = gather(&mut taken, &mut jobs, &state.core.options.journal) => {}
                // Nothing is lost: what was received is in `taken`.
                () = stop.cancelled() => {}
            }
        }
        batch::write(&mut state, &mut taken).await;
        let failing = !state.pending.is_empty();
        if failing && jobs.is_closed() && jobs.is_empty() {
            tracing::error!(
                entries = state.pending.len(),
                "entries of the record are lost: the database took none until closing"
            );
            return;
        }
        if !failing {
            pause = PAUSES.0;
        }
        if state.shared.failing.swap(failing, Ordering::Relaxed) != failing {
            tracing::warn!(failing, "the record's writer changed between writing and failing");
        }
        if failing {
            turn_away(&mut state, &mut jobs);
        }
    }
}

/// Tells everybody who handed something over before they could know that the database takes nothing: nobody waits for its return.
fn turn_away(state: &mut State, jobs: &mut mpsc::Receiver<Job>) {
    while let Ok(job) = jobs.try_recv() {
        match job {
            Job::Intent(job) => drop(job.done.send(Err(IntentError::Unavailable(FAILING)))),
            Job::Record(mut job) => {
                job.tell(Err(batch::NOT_YET));
                state.pending.push(*job);
            }
            // Nobody has to wait for what cannot be had.
            Job::Settle(done) => drop(done.send(())),
        }
    }
}

/// Takes what else can share the commit: what is ready to run hands over its entries first; where nobody waits for any of them they
/// wait a moment for one that somebody waits for.
async fn gather(taken: &mut Vec<Job>, jobs: &mut mpsc::Receiver<Job>, limits: &JournalLimits) {
    tokio::task::yield_now().await;
    let limit = limits.batch.max(1);
    while taken.len() < limit
        && let Ok(job) = jobs.try_recv()
    {
        taken.push(job);
    }
    let linger = tokio::time::sleep(limits.linger);
    tokio::pin!(linger);
    while taken.len() < limit && taken.iter().all(Job::is_patient) {
        let room = limit - taken.len();
        tokio::select! {
            more = jobs.recv_many(taken, room) => if more == 0 { return },
            () = linger.as_mut() => return,
        }
    }
}

/// Puts the log on disk soon after commits that did not wait for it.
async fn sync_forever(core: Arc<Core>, shared: Arc<Shared>, stop: CancellationToken) {
    let Some(wal) = &core.db.wal else { return };
    let within = core.options.journal.sync_within;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = shared.unsynced.notified() => {}
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(within) => {}
        }
        if let Err(error) = wal.sync().await {
            tracing::warn!(%error, "the write-ahead log could not be put on disk");
        }
    }
}
