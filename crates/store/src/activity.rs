//! What happened, for users: each call with its decision and its outcome.

use std::sync::Arc;

use domain::{AgentId, CallId, ConnectionId, Entry, Fact, Page, PageRequest, Status, Tenant, Timestamp};
use sea_orm::QueryResult;

use crate::journal::codec;
use crate::sql::{self, Query, get};
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
    /// Only those that ended so.
    pub status: Option<Status>,
    /// `allow`, `ask` or `deny`.
    pub decision: Option<Arc<str>>,
    /// Only this call.
    pub call: Option<CallId>,
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
    /// The status people see; none while it runs.
    pub status: Option<Status>,
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
        let mut query = self.calls(tenant, filter);
        if let Some(place) = paging::begin("activity", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND d.seq < {}", place);
        }
        query.push(" ORDER BY d.seq DESC LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let items = rows
            .iter()
            .map(|row| self.item(row).map(|item| (vec![item.seq], item)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("activity", page, items))
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
        let mut query = self.calls(tenant, &filter);
        query.sql.push_str(" ORDER BY d.seq DESC LIMIT 1");
        sql::one(&self.core().db.read, &query.sql, query.values)
            .await?
            .map(|row| self.item(&row))
            .transpose()
    }

    fn calls(&self, tenant: Tenant, filter: &ActivityFilter) -> Query {
        let mut query = Query::of(
            tenant,
            "SELECT d.seq, d.body, e.body AS ended FROM journal d
             LEFT JOIN journal e ON e.organization_id = d.organization_id AND e.workspace_id = d.workspace_id
             AND e.call_id = d.call_id AND e.kind = 'ended'
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
        if let Some(tool) = &filter.tool {
            query.push(" AND (d.exposed = {}", tool.to_string());
            query.push(" OR d.tool = {})", tool.to_string());
        }
        if let Some(decision) = &filter.decision {
            query.push(" AND d.word = {}", decision.to_string());
        }
        if let Some(seq) = filter.since_seq {
            query.push(" AND d.seq > {}", seq);
        }
        if let Some(status) = filter.status {
            // The same as `status_of`, which reads it from the entries.
            query.push(
                " AND COALESCE(e.word, CASE d.word WHEN 'deny' THEN 'denied' WHEN 'ask' THEN 'waiting'
                 ELSE CASE WHEN d.at < {} THEN 'unknown' ELSE '' END END)",
                self.core().opened_at.micros(),
            );
            query.push(" = {}", status.as_str());
        }
        query
    }

    fn item(&self, row: &QueryResult) -> Result<ActivityItem, StoreError> {
        let decided = codec::decode(&get::<String>(row, "body")?)?;
        let ended = get::<Option<String>>(row, "ended")?
            .map(|body| codec::decode(&body))
            .transpose()?;
        let status = self.status_of(&decided, ended.as_ref());
        let ended_at = ended.as_ref().map(|entry| entry.at);
        Ok(ActivityItem {
            seq: get(row, "seq")?,
            decided,
            ended,
            status,
            ended_at,
        })
    }

    /// What people see: the outcome; without one, what the decision says; and for a call that was cut off, that nobody knows.
    fn status_of(&self, decided: &Entry, ended: Option<&Entry>) -> Option<Status> {
        if let Some(Fact::Ended { outcome, .. }) = ended.map(|entry| &entry.fact) {
            return Some(outcome.status);
        }
        let Fact::Decided { decision, .. } = &decided.fact else {
            return None;
        };
        match &**decision {
            "deny" => Some(Status::Denied),
            "ask" => Some(Status::Waiting),
            _ => (decided.at < self.core().opened_at).then_some(Status::Unknown),
        }
    }
}
