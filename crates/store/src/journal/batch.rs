//! Writing what was taken from the queue: what belongs to one organization in one commit.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::{Epoch, Tenant};
use sea_orm::sqlx::Error as SqlxError;
use sea_orm::{DatabaseTransaction, DbErr, RuntimeErr};
use uuid::Uuid;

use super::insert::{self, DatabaseOf, MAX_ROWS, Placed};
use super::writer::{IntentJob, Job, RecordJob, State};
use crate::database::Sync;
use crate::sql::{self, get, values};
use crate::{Durability, IntentError, StoreError, approvals};

pub(super) const NOT_YET: &str = "the database did not take the entry";
const NEVER: &str = "the database refuses the entry";

#[derive(Default)]
struct Batch {
    intents: Vec<IntentJob>,
    records: Vec<RecordJob>,
}

/// Writes what was taken, and before it what is pending. What could not be written is pending afterwards.
pub(super) async fn write(state: &mut State, taken: &mut Vec<Job>) {
    let mut batches: BTreeMap<Uuid, Batch> = BTreeMap::new();
    for record in std::mem::take(&mut state.pending) {
        batches
            .entry(record.organization)
            .or_default()
            .records
            .push(record);
    }
    let mut settling = Vec::new();
    for job in taken.drain(..) {
        match job {
            Job::Settle(done) => settling.push(done),
            Job::Intent(job) => batches
                .entry(job.tenant.organization.uuid())
                .or_default()
                .intents
                .push(*job),
            Job::Record(job) => batches.entry(job.organization).or_default().records.push(*job),
        }
    }
    for (organization, batch) in batches {
        if batch.intents.is_empty() {
            write_records(state, organization, batch.records).await;
        } else {
            write_intents(state, organization, batch).await;
        }
    }
    for done in settling {
        // Whoever looked may have gone away.
        done.send(()).ok();
    }
}

async fn write_records(state: &mut State, organization: Uuid, records: Vec<RecordJob>) {
    let mut left = records.into_iter().peekable();
    while left.peek().is_some() {
        let chunk: Vec<RecordJob> = left.by_ref().take(MAX_ROWS).collect();
        match insert_alone(state, organization, &chunk).await {
            Ok(()) => committed(state, chunk),
            Err(error) if refused(&error) && chunk.len() == 1 => never(chunk, &error),
            Err(error) if refused(&error) => {
                // One of them is not acceptable; the others must not suffer for it.
                for record in chunk {
                    let one = vec![record];
                    match insert_alone(state, organization, &one).await {
                        Ok(()) => committed(state, one),
                        Err(error) if refused(&error) => never(one, &error),
                        Err(error) => not_yet(state, one, &error),
                    }
                }
            }
            Err(error) => not_yet(state, chunk, &error),
        }
    }
}

async fn insert_alone(state: &State, organization: Uuid, records: &[RecordJob]) -> Result<(), DbErr> {
    let rows: Vec<&Placed> = records.iter().map(|record| &record.placed).collect();
    let closing = records.iter().any(|record| closes(state, record));
    let db = &state.core.db;
    if let Some(turn) = db.turn(Sync::Normal).await? {
        insert::alone(&DatabaseOf::Sqlite(turn.db), organization, &rows, closing).await?;
        turn.done();
        state.shared.unsynced.notify_one();
    } else {
        let lazy = db.lazy.as_ref().unwrap_or(&db.read);
        insert::alone(&DatabaseOf::Postgres(lazy), organization, &rows, closing).await?;
    }
    Ok(())
}

async fn write_intents(state: &mut State, organization: Uuid, batch: Batch) {
    let Batch { intents, records } = batch;
    let committed = match commit_at_once(state, organization, &intents, &records).await {
        Ok(Some(verdicts)) => Ok(verdicts),
        Ok(None) => commit_intents(state, organization, &intents, &records).await,
        Err(error) => Err(error),
    };
    match committed {
        Ok(verdicts) => {
            written(state, records);
            for (job, verdict) in intents.into_iter().zip(verdicts) {
                if verdict.is_ok() {
                    state.open.insert(job.placed.row.call);
                    add(&state.shared.intents, 1);
                    add(&state.shared.entries, 1);
                }
                // A caller that went away leaves an intent without an outcome, which is the truth.
                drop(job.done.send(verdict));
            }
        }
        Err(error) => {
            tracing::error!(%error, intents = intents.len(), "intents could not be stored; their calls are refused");
            for job in intents {
                drop(
                    job.done
                        .send(Err(IntentError::Unavailable(StoreError::Unavailable {
                            reason: NOT_YET,
                        }))),
                );
            }
            // On their own they may go in; if not, they wait there.
            write_records(state, organization, records).await;
        }
    }
}

/// The plain case in one statement: nobody spends an approval, and all expect the epoch that holds. Otherwise nothing is done, and
/// `commit_intents` has to look closer.
async fn commit_at_once(
    state: &State,
    organization: Uuid,
    intents: &[IntentJob],
    records: &[RecordJob],
) -> Result<Option<Vec<Result<(), IntentError>>>, StoreError> {
    let core = &state.core;
    let Some(first) = intents.first() else {
        return Ok(None);
    };
    let plain = |job: &IntentJob| job.spend.is_none() && job.expected == first.expected;
    let Ok(expected) = i64::try_from(first.expected.0) else {
        return Ok(None);
    };
    if !intents.iter().all(plain) || intents.len() + records.len() > MAX_ROWS {
        return Ok(None);
    }
    let mut rows: Vec<&Placed> = intents.iter().map(|intent| &intent.placed).collect();
    rows.extend(records.iter().map(|record| &record.placed));
    let expecting = (expected, intents.len());
    let stored = if let Some(turn) = core.db.turn(Sync::Normal).await? {
        let stored = insert::intents(&DatabaseOf::Sqlite(turn.db), organization, expecting, &rows).await?;
        turn.done();
        stored
    } else {
        // Its connections wait for the disk by themselves.
        insert::intents(
            &DatabaseOf::Postgres(&core.db.read),
            organization,
            expecting,
            &rows,
        )
        .await?
    };
    if !stored {
        return Ok(None);
    }
    add(&state.shared.commits, 1);
    add(&state.shared.intent_commits, 1);
    let on_disk = match (&core.db.wal, core.options.durability) {
        // What SQLite does at every commit when it is told to be fully synchronous.
        (Some(wal), Durability::PowerCut) => wal.sync().await.inspect_err(|error| {
            tracing::error!(%error, "the write-ahead log cannot be put on disk; calls are refused");
        }),
        (Some(_), Durability::ProcessCrash) => {
            state.shared.unsynced.notify_one();
            Ok(())
        }
        (None, _) => Ok(()),
    };
    // The rows are in. Intents that may not survive a power cut send nothing; they end as unknown.
    let verdict = || match on_disk {
        Ok(()) => Ok(()),
        Err(_) => Err(IntentError::Unavailable(StoreError::Unavailable {
            reason: NOT_YET,
        })),
    };
    Ok(Some(intents.iter().map(|_| verdict()).collect()))
}

/// Stores the intents that may be, with the records, in one commit; says for each intent what became of it.
async fn commit_intents(
    state: &State,
    organization: Uuid,
    intents: &[IntentJob],
    records: &[RecordJob],
) -> Result<Vec<Result<(), IntentError>>, StoreError> {
    let core = &state.core;
    let sync = match core.options.durability {
        Durability::PowerCut => Sync::Full,
        Durability::ProcessCrash => Sync::Normal,
    };
    let transaction = core.db.begin(sync).await?;
    let tx = &transaction.tx;
    let advanced = intents.len() + records.len();
    let epoch = advance(tx, organization, advanced).await?;
    let now = core.clock.now();
    let mut verdicts = Vec::with_capacity(intents.len());
    for intent in intents {
        verdicts.push(if intent.expected != epoch {
            Err(IntentError::EpochMoved { now: epoch })
        } else if !spent(tx, intent, now).await? {
            Err(IntentError::ApprovalGone)
        } else {
            Ok(())
        });
    }
    let accepted = intents
        .iter()
        .zip(&verdicts)
        .filter(|(_, verdict)| verdict.is_ok())
        .map(|(intent, _)| &intent.placed);
    let mut rows: Vec<&Placed> = accepted.collect();
    let stored = rows.len();
    rows.extend(records.iter().map(|record| &record.placed));
    let mut left = advanced;
    for chunk in rows.chunks(MAX_ROWS) {
        insert::within(tx, organization, left, chunk).await?;
        left -= chunk.len();
    }
    open_and_close(
        tx,
        organization,
        (advanced, stored),
        records.iter().any(|record| closes(state, record)),
    )
    .await?;
    transaction.commit().await?;
    if sync == Sync::Normal {
        state.shared.unsynced.notify_one();
    }
    add(&state.shared.commits, 1);
    if stored > 0 {
        add(&state.shared.intent_commits, 1);
    }
    Ok(verdicts)
}

async fn advance(tx: &DatabaseTransaction, organization: Uuid, by: usize) -> Result<Epoch, StoreError> {
    let row = sql::one(
        tx,
        "UPDATE counters SET seq = seq + $2 WHERE organization_id = $1 RETURNING epoch",
        values![organization, number(by)],
    )
    .await?;
    let row = row.ok_or(StoreError::NotFound { what: "organization" })?;
    u64::try_from(get::<i64>(&row, "epoch")?)
        .map(Epoch)
        .map_err(|e| sql::corrupt("epoch", e))
}

async fn spent(
    tx: &DatabaseTransaction,
    intent: &IntentJob,
    now: domain::Timestamp,
) -> Result<bool, StoreError> {
    let tenant: Tenant = intent.tenant;
    match intent.spend {
        Some(approval) => approvals::spend(tx, tenant, approval, now).await,
        None => Ok(true),
    }
}

/// Puts the first `stored` of the rows just inserted on the list of open intents, and takes those that ended off it.
async fn open_and_close(
    tx: &DatabaseTransaction,
    organization: Uuid,
    (advanced, stored): (usize, usize),
    closing: bool,
) -> Result<(), DbErr> {
    if stored > 0 {
        sql::run(
            tx,
            "INSERT INTO open_intents (organization_id, workspace_id, call_id, agent_id, at)
             SELECT j.organization_id, j.workspace_id, j.call_id, j.agent_id, j.at FROM journal j, counters c
             WHERE j.organization_id = $1 AND c.organization_id = $1 AND j.seq > c.seq - $2 AND j.seq <= c.seq - $2 + $3
             ON CONFLICT (organization_id, call_id) DO NOTHING",
            values![organization, number(advanced), number(stored)],
        )
        .await?;
    }
    if closing {
        sql::run(tx, insert::CLOSE, values![organization, number(advanced)]).await?;
    }
    Ok(())
}

fn closes(state: &State, record: &RecordJob) -> bool {
    record.placed.row.kind == "ended" && state.open.contains(&record.placed.row.call)
}

fn committed(state: &mut State, records: Vec<RecordJob>) {
    add(&state.shared.commits, 1);
    written(state, records);
}

fn written(state: &mut State, records: Vec<RecordJob>) {
    if records.is_empty() {
        return;
    }
    add(&state.shared.entries, records.len() as u64);
    for mut record in records {
        if record.placed.row.kind == "ended" {
            state.open.remove(&record.placed.row.call);
        }
        record.tell(Ok(()));
    }
}

fn not_yet(state: &mut State, records: Vec<RecordJob>, error: &DbErr) {
    tracing::error!(%error, entries = records.len(), "entries of the record could not be written; trying again");
    for mut record in records {
        record.tell(Err(NOT_YET));
        state.pending.push(record);
    }
}

fn never(records: Vec<RecordJob>, error: &DbErr) {
    for mut record in records {
        tracing::error!(%error, call = %record.placed.row.call, "the database refuses an entry of the record for what it holds");
        record.tell(Err(NEVER));
    }
}

/// Whether the database answered that the data is not acceptable, so that trying again is useless.
fn refused(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return false;
    };
    let SqlxError::Database(error) = &**error else {
        return false;
    };
    let postgres = error
        .code()
        .is_some_and(|code| code.len() == 5 && (code.starts_with("22") || code.starts_with("23")));
    postgres || error.is_foreign_key_violation() || error.is_unique_violation() || error.is_check_violation()
}

fn add(count: &AtomicU64, by: u64) {
    count.fetch_add(by, Ordering::Relaxed);
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
