//! What happened, for users: each call with its decision and its outcome.

use std::sync::Arc;

use domain::{
    AgentId, CallId, CallStatus, ConnectionId, Entry, Fact, OutcomeCode, Page, PageRequest, RunId, Tenant,
    Timestamp,
};
use sea_orm::QueryResult;

use crate::journal::codec;
use crate::sql::{self, Query, get, word};
use crate::{Store, StoreError, paging};

/// Which calls a list holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only to this connection.
    pub connection: Option<ConnectionId>,
    /// Only under this exposed name, or to this tool by its own name.
    pub tool: Option<Arc<str>>,
    /// Only those that stand so.
    pub status: Option<CallStatus>,
    /// `allow`, `ask` or `deny`.
    pub decision: Option<Arc<str>>,
    /// Only this call.
    pub call: Option<CallId>,
    /// Only those of this run.
    pub run: Option<RunId>,
    /// Only those to connections.
    pub external: bool,
    /// Only entries after this one.
    pub since_seq: Option<i64>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityItem {
    /// Its place in the record.
    pub seq: i64,
    /// The decision (`Fact::Decided`).
    pub decided: Entry,
    /// How it ended (`Fact::Ended`), once it has.
    pub ended: Option<Entry>,
    /// How it stands. What asked a person stands as the question does.
    pub status: CallStatus,
    /// Why not plainly well.
    pub code: Option<OutcomeCode>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl Store {
    /// A page of calls, newest first.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_activity(
        &self,
        tenant: Tenant,
        filter: &ActivityFilter,
        page: &PageRequest,
    ) -> Result<Page<ActivityItem>, StoreError> {
        self.writer().settle().await;
        let mut query = self.calls(tenant, filter);
        if let Some(place) = paging::begin("activity", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq < {}", place);
        }
        query.push(" ORDER BY seq DESC LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let items = rows
            .iter()
            .map(|row| item(row).map(|item| (vec![item.seq], item)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("activity", page, items))
    }

    /// A page of the calls of a run, oldest first, after so many; says too whether there are more. `external` leaves out those to
    /// built-in tools.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_run(
        &self,
        tenant: Tenant,
        run: RunId,
        external: bool,
        (skip, limit): (u32, u16),
    ) -> Result<(Vec<ActivityItem>, bool), StoreError> {
        self.writer().settle().await;
        let filter = ActivityFilter {
            run: Some(run),
            external,
            ..ActivityFilter::default()
        };
        let mut query = self.calls(tenant, &filter);
        query.push(" ORDER BY seq LIMIT {}", i64::from(limit) + 1);
        query.push(" OFFSET {}", i64::from(skip));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let mut items = rows.iter().map(item).collect::<Result<Vec<_>, _>>()?;
        let more = items.len() > usize::from(limit);
        items.truncate(usize::from(limit));
        Ok((items, more))
    }

    /// One call.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn activity(&self, tenant: Tenant, call: CallId) -> Result<Option<ActivityItem>, StoreError> {
        let filter = ActivityFilter {
            call: Some(call),
            ..ActivityFilter::default()
        };
        self.writer().settle().await;
        let mut query = self.calls(tenant, &filter);
        query.sql.push_str(" ORDER BY seq DESC LIMIT 1");
        sql::one(&self.core().db.read, &query.sql, query.values)
            .await?
            .map(|row| item(&row))
            .transpose()
    }

    /// Calls that a filter lets through. How each stands is said once, here, for showing and for filtering.
    fn calls(&self, tenant: Tenant, filter: &ActivityFilter) -> Query {
        let mut query = Query::of(
            tenant,
            "SELECT * FROM (SELECT d.seq, d.body, e.body AS ended, CASE",
        );
        query.push(
            " WHEN d.word = 'ask' AND a.state IN ('pending', 'approved') AND a.expires_at <= {} THEN 'expired'",
            self.now().micros(),
        );
        query.push(
            " WHEN d.word = 'ask' AND a.state = 'pending' THEN 'waiting'
             WHEN d.word = 'ask' AND a.state IN ('approved', 'spent') THEN 'approved'
             WHEN d.word = 'ask' AND a.state IS NOT NULL THEN a.state
             WHEN e.word IS NOT NULL THEN e.word
             WHEN d.word = 'deny' THEN 'denied' WHEN d.word = 'ask' THEN 'waiting'
             WHEN d.seq <= {} THEN 'unknown' ELSE 'started' END AS standing",
            // A call from before this process that has no outcome was cut off: nobody knows.
            self.core()
                .opened
                .get(&tenant.organization.uuid())
                .copied()
                .unwrap_or(0),
        );
        query.sql.push_str(
            " FROM journal d
             LEFT JOIN journal e ON e.organization_id = d.organization_id AND e.workspace_id = d.workspace_id
             AND e.call_id = d.call_id AND e.kind = 'ended'
             LEFT JOIN approvals a ON a.organization_id = d.organization_id AND a.workspace_id = d.workspace_id
             AND a.approval_id = d.approval_id
             WHERE d.organization_id = $1 AND d.workspace_id = $2 AND d.kind = 'decided'",
        );
        if let Some(agent) = filter.agent {
            query.push(" AND d.agent_id = {}", agent.uuid());
        }
        if let Some(connection) = filter.connection {
            query.push(" AND d.connection_id = {}", connection.uuid());
        }
        if let Some(call) = filter.call {
            query.push(" AND d.call_id = {}", call.uuid());
        }
        if let Some(run) = filter.run {
            query.push(" AND d.run_id = {}", run.uuid());
        }
        if filter.external {
            query.sql.push_str(" AND d.connection_id IS NOT NULL");
        }
        if let Some(tool) = &filter.tool {
            query.push(" AND (d.exposed = {}", tool.to_string());
            query.push(" OR d.tool = {})", tool.to_string());
        }
        if let Some(decision) = &filter.decision {
            query.push(" AND d.word = {}", decision.to_string());
        }
        query.push(" AND d.seq > {}) AS calls", filter.since_seq.unwrap_or(0));
        match filter.status {
            Some(status) => query.push(" WHERE standing = {}", status.as_str()),
            None => query.sql.push_str(" WHERE seq > 0"),
        }
        query
    }
}

fn item(row: &QueryResult) -> Result<ActivityItem, StoreError> {
    let decided = codec::decode(&get::<String>(row, "body")?)?;
    let ended = get::<Option<String>>(row, "ended")?
        .map(|body| codec::decode(&body))
        .transpose()?;
    let status = word(row, "standing")?;
    let ended_at = ended.as_ref().map(|entry| entry.at);
    Ok(ActivityItem {
        seq: get(row, "seq")?,
        decided,
        code: code_of(status, ended.as_ref()),
        ended,
        status,
        ended_at,
    })
}

/// The outcome's own code where the call stands as it ended; else what the standing itself says.
fn code_of(status: CallStatus, ended: Option<&Entry>) -> Option<OutcomeCode> {
    match ended.map(|entry| &entry.fact) {
        Some(Fact::Ended { outcome, .. }) if CallStatus::from(outcome.status) == status => outcome.code,
        _ => match status {
            CallStatus::Waiting => Some(OutcomeCode::ApprovalRequired),
            CallStatus::Denied => Some(OutcomeCode::Denied),
            CallStatus::Expired => Some(OutcomeCode::ApprovalExpired),
            CallStatus::Unknown => Some(OutcomeCode::Unknown),
            CallStatus::Started | CallStatus::Approved | CallStatus::Succeeded | CallStatus::Failed => None,
        },
    }
}
