//! Calls that were cut off: an intent without an outcome, and no process left to bring one.

use std::collections::BTreeMap;

use domain::{
    Actor, AgentId, CallId, Entry, Fact, OrganizationId, Outcome, OutcomeCode, Status, Tenant, Timestamp,
    WorkspaceId,
};
use sea_orm::QueryResult;
use uuid::Uuid;

use super::codec;
use super::insert::Placed;
use crate::StoreError;
use crate::core::{Core, Policy};
use crate::sql::{self, get, values};

const STEP: i64 = 200;

/// Gives every open intent the outcome `unknown`, exactly once. For the one process that serves, before it serves.
pub(crate) async fn mark_unknown(core: &Core) -> Result<(), StoreError> {
    outlast(core).await?;
    loop {
        let rows = sql::all(
            &core.db.read,
            "SELECT organization_id, workspace_id, call_id, agent_id, at FROM open_intents
             ORDER BY organization_id, call_id LIMIT $1",
            values![STEP],
        )
        .await?;
        if rows.is_empty() {
            return Ok(());
        }
        let mut tenants: BTreeMap<Tenant, Vec<&QueryResult>> = BTreeMap::new();
        for row in &rows {
            tenants.entry(tenant(row)?).or_default().push(row);
        }
        for (tenant, rows) in tenants {
            mark(core, tenant, &rows).await?;
            tracing::warn!(calls = rows.len(), "calls were cut off; their outcome is unknown");
        }
    }
}

/// Waits for what the process before asked PostgreSQL for last: it is still done although whoever asked was killed. An end that
/// came after ours would be a second one.
async fn outlast(core: &Core) -> Result<(), StoreError> {
    if core.db.lazy.is_some() {
        let writing = core.writing().await?;
        // Conflicts with every write that has begun, and is let go at once.
        sql::run(
            writing.db(),
            "LOCK TABLE journal IN SHARE ROW EXCLUSIVE MODE",
            Vec::new(),
        )
        .await?;
        writing.commit().await?;
    }
    Ok(())
}

async fn mark(core: &Core, tenant: Tenant, rows: &[&QueryResult]) -> Result<(), StoreError> {
    let writing = core.writing().await?;
    writing.next_seq(tenant).await?;
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let call: Uuid = get(row, "call_id")?;
        let taken = sql::run(
            writing.db(),
            "DELETE FROM open_intents WHERE organization_id = $1 AND call_id = $2",
            values![tenant.organization.uuid(), call],
        )
        .await?;
        if taken > 0 {
            entries.push(Placed {
                workspace: tenant.workspace.uuid(),
                row: codec::encode(&entry(core, row, call)?)?,
            });
        }
    }
    writing.finish_with(tenant, &entries, Policy::Stays).await
}

fn entry(core: &Core, row: &QueryResult, call: Uuid) -> Result<Entry, StoreError> {
    let at = core.clock.now();
    let began = Timestamp::from_micros(get(row, "at")?);
    let agent = get::<Option<Uuid>>(row, "agent_id")?.map(AgentId::from_uuid);
    Ok(Entry {
        call: CallId::from_uuid(call),
        actor: Actor {
            kind: "system".into(),
            id: "".into(),
            agent,
        },
        at,
        fact: Fact::Ended {
            outcome: Outcome::new(Status::Unknown, OutcomeCode::Unknown),
            duration_us: u64::try_from(at.since(began).as_micros()).unwrap_or(u64::MAX),
            result: None,
        },
    })
}

fn tenant(row: &QueryResult) -> Result<Tenant, StoreError> {
    Ok(Tenant {
        organization: OrganizationId::from_uuid(get(row, "organization_id")?),
        workspace: WorkspaceId::from_uuid(get(row, "workspace_id")?),
    })
}
