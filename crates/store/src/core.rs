//! What every part of the store works with, and the transaction of an administrative write.

use std::collections::HashMap;

use domain::{ChangeKind, Clock, Entry, Fact, Tenant};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr};
use tokio::sync::watch;
use uuid::Uuid;

use crate::database::{Database, Sync, Transaction};
use crate::journal::codec;
use crate::journal::insert::{self, Placed};
use crate::sql::{self, get, values};
use crate::vault::Seals;
use crate::{Change, Options, StoreError, others};

/// The database, the clock and the keys.
pub(crate) struct Core {
    pub(crate) db: Database,
    pub(crate) clock: Clock,
    pub(crate) seals: Seals,
    pub(crate) options: Options,
    /// The last number of each organization when this process began; calls up to it that have no outcome will never have one.
    /// Numbers, because clocks can be set back.
    pub(crate) opened: HashMap<Uuid, i64>,
    /// Grows whenever a commit of this process raised an epoch.
    pub(crate) changes: watch::Sender<u64>,
    /// Grows whenever another process raised one.
    pub(crate) others: watch::Sender<u64>,
    /// Who this process is where only one may act, and to others.
    pub(crate) process: Uuid,
}

/// A write of an administrator: it leaves a fact in the record or does not happen.
pub(crate) struct Writing<'a> {
    core: &'a Core,
    transaction: Transaction,
}

/// What a write does to the policy epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// It can alter a decision.
    Moves,
    /// It cannot.
    Stays,
}

impl Core {
    /// Begins a write.
    pub(crate) async fn writing(&self) -> Result<Writing<'_>, DbErr> {
        Ok(Writing {
            core: self,
            transaction: self.db.begin(Sync::Full).await?,
        })
    }
}

impl Writing<'_> {
    /// Where statements go.
    pub(crate) fn db(&self) -> &DatabaseTransaction {
        &self.transaction.tx
    }

    /// The organization's next number. Whoever has it is alone in writing there until the commit, so what is looked up after
    /// this holds.
    pub(crate) async fn next_seq(&self, tenant: Tenant) -> Result<i64, StoreError> {
        advance(self.db(), tenant, 1, Policy::Stays).await
    }

    /// Writes the facts, raises the epoch if asked to, and commits.
    pub(crate) async fn finish(
        self,
        tenant: Tenant,
        change: &Change,
        facts: Vec<(ChangeKind, String)>,
        policy: Policy,
    ) -> Result<(), StoreError> {
        let at = self.core.clock.now();
        let rows = facts
            .into_iter()
            .map(|(kind, object)| {
                let fact = Fact::Changed {
                    action: change.action.clone(),
                    kind,
                    object: object.into(),
                };
                let entry = Entry {
                    call: change.call,
                    actor: change.actor.clone(),
                    at,
                    fact,
                };
                Ok(Placed {
                    workspace: tenant.workspace.uuid(),
                    row: codec::encode(&entry)?,
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        self.finish_with(tenant, &rows, policy).await
    }

    /// Writes these rows, raises the epoch if asked to, and commits.
    pub(crate) async fn finish_with(
        self,
        tenant: Tenant,
        rows: &[Placed],
        policy: Policy,
    ) -> Result<(), StoreError> {
        append(self.db(), tenant, rows, policy).await?;
        if policy == Policy::Moves {
            others::tell(self.db(), self.core.process).await?;
        }
        self.transaction.commit().await?;
        if policy == Policy::Moves {
            self.core
                .changes
                .send_modify(|count| *count = count.wrapping_add(1));
        }
        Ok(())
    }

    /// Commits what needs no fact.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        Ok(self.transaction.commit().await?)
    }
}

/// The last number of each organization.
pub(crate) async fn numbers(db: &impl ConnectionTrait) -> Result<HashMap<Uuid, i64>, StoreError> {
    let rows = sql::all(db, "SELECT organization_id, seq FROM counters", Vec::new()).await?;
    rows.iter()
        .map(|row| Ok((get(row, "organization_id")?, get(row, "seq")?)))
        .collect()
}

/// Appends rows to the record of one organization.
pub(crate) async fn append(
    tx: &DatabaseTransaction,
    tenant: Tenant,
    rows: &[Placed],
    policy: Policy,
) -> Result<(), StoreError> {
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    advance(tx, tenant, count, policy).await?;
    let rows: Vec<&Placed> = rows.iter().collect();
    let mut left = rows.len();
    for chunk in rows.chunks(insert::MAX_ROWS) {
        insert::within(tx, tenant.organization.uuid(), left, chunk).await?;
        left -= chunk.len();
    }
    Ok(())
}

async fn advance(
    tx: &DatabaseTransaction,
    tenant: Tenant,
    by: i64,
    policy: Policy,
) -> Result<i64, StoreError> {
    let raise = i64::from(policy == Policy::Moves);
    let row = sql::one(
        tx,
        "UPDATE counters SET seq = seq + $2, epoch = epoch + $3 WHERE organization_id = $1 RETURNING seq",
        values![tenant.organization.uuid(), by, raise],
    )
    .await?;
    let row = row.ok_or(StoreError::NotFound { what: "organization" })?;
    Ok(get(&row, "seq")?)
}
