//! Telephone calls, what was said on them, and how agents speak.

mod row;
mod settings;

use domain::{AgentId, ChangeKind, Page, PageRequest, PhoneCall, PhoneCallId, PhoneTurn, Tenant, Timestamp};

use crate::core::Policy;
use crate::sql::{self, Query, get, values};
use crate::{Change, Store, StoreError, agents, paging};

/// Most characters of one turn that are kept.
const WORDS: usize = 100_000;

/// Which telephone calls a list holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhoneCallFilter {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only those that were, or were not, turned away.
    pub blocked: Option<bool>,
    /// Only those asked for at this time or later.
    pub from: Option<Timestamp>,
    /// Only those asked for before this time.
    pub until: Option<Timestamp>,
    /// Leaves so many out at the beginning.
    pub skip: u32,
}

const NOT_FOUND: StoreError = StoreError::NotFound { what: "call" };

impl Store {
    /// Stores a new telephone call.
    ///
    /// # Errors
    /// `NotFound` when its agent does not exist, or when the database fails.
    pub async fn create_phone_call(
        &self,
        tenant: Tenant,
        change: &Change,
        call: PhoneCall,
    ) -> Result<PhoneCall, StoreError> {
        let writing = self.core().writing().await?;
        let seq = writing.next_seq(tenant).await?;
        agents::find(writing.db(), tenant, call.agent)
            .await?
            .ok_or(StoreError::NotFound { what: "agent" })?;
        let columns = row::columns(&call);
        let mut query = Query::of(tenant, "");
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        query.sql = format!(
            "INSERT INTO phone_calls (organization_id, workspace_id, phone_call_id, seq, {}) VALUES ($1, $2",
            names.join(", ")
        );
        query.push(", {}", call.id.uuid());
        query.push(", {}", seq);
        for (_, value) in columns {
            query.push(", {}", value);
        }
        query.sql.push(')');
        sql::run(writing.db(), &query.sql, query.values).await?;
        let facts = vec![(ChangeKind::Created, object(call.id))];
        writing.finish(tenant, change, facts, Policy::Stays).await?;
        Ok(call)
    }

    /// Replaces what changes about a telephone call while it goes on: how it stands, when it began and ended.
    ///
    /// # Errors
    /// `NotFound`, or when the database fails.
    pub async fn update_phone_call(
        &self,
        tenant: Tenant,
        change: &Change,
        mut call: PhoneCall,
    ) -> Result<PhoneCall, StoreError> {
        call.updated_at = self.now();
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut query = Query::of(tenant, "UPDATE phone_calls SET");
        for (i, (name, value)) in row::columns(&call).into_iter().enumerate() {
            query.push(&format!("{} {name} = {{}}", if i == 0 { "" } else { "," }), value);
        }
        query.push(
            " WHERE organization_id = $1 AND workspace_id = $2 AND phone_call_id = {}",
            call.id.uuid(),
        );
        if sql::run(writing.db(), &query.sql, query.values).await? == 0 {
            return Err(NOT_FOUND);
        }
        let facts = vec![(ChangeKind::Updated, object(call.id))];
        writing.finish(tenant, change, facts, Policy::Stays).await?;
        Ok(call)
    }

    /// The telephone call with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn phone_call(&self, tenant: Tenant, id: PhoneCallId) -> Result<Option<PhoneCall>, StoreError> {
        let mut query = select(tenant);
        query.push(" AND phone_call_id = {}", id.uuid());
        let found = sql::one(&self.core().db.read, &query.sql, query.values).await?;
        found.as_ref().map(row::read).transpose()
    }

    /// A page of telephone calls, newest first.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_phone_calls(
        &self,
        tenant: Tenant,
        filter: &PhoneCallFilter,
        page: &PageRequest,
    ) -> Result<Page<PhoneCall>, StoreError> {
        let mut query = select(tenant);
        if let Some(agent) = filter.agent {
            query.push(" AND agent_id = {}", agent.uuid());
        }
        if let Some(blocked) = filter.blocked {
            query.push(" AND blocked = {}", blocked);
        }
        if let Some(from) = filter.from {
            query.push(" AND created_at >= {}", from.micros());
        }
        if let Some(until) = filter.until {
            query.push(" AND created_at < {}", until.micros());
        }
        if let Some(place) = paging::begin("phone_calls", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq < {}", place);
        }
        query.push(" ORDER BY seq DESC LIMIT {}", paging::limit(page));
        query.push(" OFFSET {}", i64::from(filter.skip));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|found| Ok((vec![get(found, "seq")?], row::read(found)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("phone_calls", page, rows))
    }

    /// Writes down what somebody said; at most 100,000 characters of it.
    ///
    /// # Errors
    /// When there is no such call, its place is taken, or the database fails.
    pub async fn add_phone_turn(
        &self,
        tenant: Tenant,
        call: PhoneCallId,
        turn: &PhoneTurn,
    ) -> Result<(), StoreError> {
        let words: String = turn.text.chars().take(WORDS).collect();
        let (organization, workspace) = sql::of(tenant);
        let writing = self.core().writing().await?;
        sql::run(
            writing.db(),
            "INSERT INTO phone_turns (organization_id, workspace_id, phone_call_id, seq, at_ms, party, words, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            values![
                organization,
                workspace,
                call.uuid(),
                i64::from(turn.seq),
                i64::try_from(turn.at_ms).unwrap_or(i64::MAX),
                turn.party.as_str(),
                words,
                turn.created_at.micros()
            ],
        )
        .await?;
        writing.commit().await
    }

    /// A page of what was said on a call, in order.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_phone_turns(
        &self,
        tenant: Tenant,
        call: PhoneCallId,
        page: &PageRequest,
    ) -> Result<Page<PhoneTurn>, StoreError> {
        let mut query = Query::of(
            tenant,
            "SELECT seq, at_ms, party, words, created_at FROM phone_turns WHERE organization_id = $1 AND workspace_id = $2",
        );
        query.push(" AND phone_call_id = {}", call.uuid());
        if let Some(place) = paging::begin("phone_turns", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq > {}", place);
        }
        query.push(" ORDER BY seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|found| Ok((vec![get(found, "seq")?], row::turn(found)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("phone_turns", page, rows))
    }
}

fn select(tenant: Tenant) -> Query {
    Query::of(
        tenant,
        "SELECT * FROM phone_calls WHERE organization_id = $1 AND workspace_id = $2",
    )
}

fn object(id: PhoneCallId) -> String {
    format!("phone_call:{id}")
}
