//! Questions to people, and their answers.

mod row;

use domain::{
    Actor, AgentId, Answer, Approval, ApprovalId, ApprovalState, CallId, Digest, Entry, Fact, Identity,
    OrganizationId, Page, PageRequest, Principal, Secret, Target, Tenant, Timestamp, WorkspaceId,
};
use sea_orm::{ConnectionTrait, QueryResult};

use crate::core::{Core, Policy};
use crate::journal::codec;
use crate::journal::insert::Placed;
use crate::sql::{self, get, values};
use crate::{SecretOwner, SecretSlot, Store, StoreError, paging, vault};

/// Which questions a list holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Only of this state.
    pub state: Option<ApprovalState>,
    /// Only of this agent.
    pub agent: Option<AgentId>,
}

/// What a question is bound to: a call matches only if all of it is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalMatch {
    /// For which agent.
    pub agent: AgentId,
    /// Who asks.
    pub identity: Identity,
    /// What would be called.
    pub target: Target,
    /// By which definition.
    pub definition: Digest,
    /// With which arguments.
    pub arguments: Digest,
}

/// What a person said.
#[derive(Debug, Clone)]
pub struct Answered {
    /// In which call.
    pub call: CallId,
    /// Yes or no.
    pub answer: Answer,
    /// Who says so.
    pub by: Principal,
    /// What they note.
    pub note: Option<String>,
}

/// Questions that lapse in one go.
const EXPIRE_STEP: i64 = 500;

impl Store {
    /// Stores a question. What is `shown` is sealed by the vault.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn park_approval(&self, tenant: Tenant, approval: &Approval) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let seq = writing.next_seq(tenant).await?;
        row::insert(writing.db(), tenant, seq, approval).await?;
        let shown = Secret::new(&*approval.shown);
        vault::put(
            self.core(),
            writing.db(),
            tenant,
            (&shown_slot(approval.id), &shown),
        )
        .await?;
        writing.commit().await
    }

    /// The question with this id. `shown` is empty once the question is denied, spent or expired.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn approval(&self, tenant: Tenant, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        find(self.core(), &self.core().db.read, tenant, id).await
    }

    /// A page of questions, those that lapse first first.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_approvals(
        &self,
        tenant: Tenant,
        filter: ApprovalFilter,
        page: &PageRequest,
    ) -> Result<Page<Approval>, StoreError> {
        let mut query = row::select(tenant);
        if let Some(state) = filter.state {
            query.push(" AND state = {}", state.as_str());
        }
        if let Some(agent) = filter.agent {
            query.push(" AND agent_id = {}", agent.uuid());
        }
        if let Some(&[expires, seq]) = paging::begin("approvals", 2, page)?.as_deref() {
            query.push(" AND (expires_at > {}", expires);
            query.push(" OR (expires_at = {}", expires);
            query.push(" AND seq > {}))", seq);
        }
        query.push(" ORDER BY expires_at, seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let mut items = Vec::with_capacity(rows.len());
        for row in &rows {
            let place = vec![get(row, "expires_at")?, get(row, "seq")?];
            items.push((
                place,
                with_shown(self.core(), &self.core().db.read, tenant, row).await?,
            ));
        }
        Ok(paging::end("approvals", page, items))
    }

    /// Answers a question, exactly once and only before it lapses; writes the fact into the record.
    ///
    /// # Errors
    /// `NotFound`; `NotPending` when it was answered or has lapsed.
    pub async fn answer_approval(
        &self,
        tenant: Tenant,
        id: ApprovalId,
        answered: Answered,
    ) -> Result<Approval, StoreError> {
        let now = self.now();
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let state = match answered.answer {
            Answer::Approved => ApprovalState::Approved,
            Answer::Denied => ApprovalState::Denied,
        };
        if !row::answer(writing.db(), tenant, id, (state, &answered, now)).await? {
            let found = find(self.core(), writing.db(), tenant, id).await?;
            let found = found.ok_or(StoreError::NotFound { what: "approval" })?;
            let lapsed = found.state == ApprovalState::Pending;
            return Err(StoreError::NotPending {
                state: if lapsed {
                    ApprovalState::Expired
                } else {
                    found.state
                },
            });
        }
        if answered.answer == Answer::Denied {
            vault::remove(writing.db(), tenant, SecretOwner::Approval(id), None).await?;
        }
        let approval = find(self.core(), writing.db(), tenant, id).await?;
        let approval = approval.ok_or(StoreError::NotFound { what: "approval" })?;
        let fact = Fact::Answered {
            approval: id,
            answer: answered.answer.as_str().into(),
        };
        let actor = Actor::of(&answered.by, Some(approval.agent));
        let row = codec::encode(&Entry {
            call: answered.call,
            actor,
            at: now,
            fact,
        })?;
        let rows = [Placed {
            workspace: tenant.workspace.uuid(),
            row,
        }];
        writing.finish_with(tenant, &rows, Policy::Stays).await?;
        Ok(approval)
    }

    /// The newest question of this state that this very call matches and that has not lapsed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_approval(
        &self,
        tenant: Tenant,
        call: &ApprovalMatch,
        state: ApprovalState,
    ) -> Result<Option<Approval>, StoreError> {
        let mut query = row::matching(tenant, call);
        query.push(" AND state = {}", state.as_str());
        query.push(" AND expires_at > {}", self.now().micros());
        query.sql.push_str(" ORDER BY seq DESC LIMIT 1");
        match sql::one(&self.core().db.read, &query.sql, query.values).await? {
            Some(row) => with_shown(self.core(), &self.core().db.read, tenant, &row)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    /// Marks what has lapsed as expired, in every tenant, and writes the facts. Returns what it marked, at most 500 at a time.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn expire_approvals(&self) -> Result<Vec<(Tenant, ApprovalId)>, StoreError> {
        let now = self.now();
        let rows = sql::all(
            &self.core().db.read,
            "SELECT organization_id, workspace_id, approval_id FROM approvals
             WHERE state IN ('pending', 'approved') AND expires_at <= $1 ORDER BY expires_at LIMIT $2",
            values![now.micros(), EXPIRE_STEP],
        )
        .await?;
        let mut expired = Vec::with_capacity(rows.len());
        for row in &rows {
            let tenant = Tenant {
                organization: OrganizationId::from_uuid(get(row, "organization_id")?),
                workspace: WorkspaceId::from_uuid(get(row, "workspace_id")?),
            };
            let id = ApprovalId::from_uuid(get(row, "approval_id")?);
            if self.expire(tenant, id, now).await? {
                expired.push((tenant, id));
            }
        }
        Ok(expired)
    }

    async fn expire(&self, tenant: Tenant, id: ApprovalId, now: Timestamp) -> Result<bool, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let Some((call, agent)) = row::expire(writing.db(), tenant, id, now).await? else {
            return Ok(false);
        };
        vault::remove(writing.db(), tenant, SecretOwner::Approval(id), None).await?;
        let fact = Fact::Answered {
            approval: id,
            answer: ApprovalState::Expired.as_str().into(),
        };
        let actor = Actor {
            kind: "system".into(),
            id: "".into(),
            agent: Some(agent),
        };
        let row = codec::encode(&Entry {
            call,
            actor,
            at: now,
            fact,
        })?;
        let rows = [Placed {
            workspace: tenant.workspace.uuid(),
            row,
        }];
        writing.finish_with(tenant, &rows, Policy::Stays).await?;
        Ok(true)
    }
}

/// Spends an approval in the transaction of the intent it is for; says whether it was there to spend.
pub(crate) async fn spend(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: ApprovalId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let (organization, workspace) = sql::of(tenant);
    let spent = sql::run(
        db,
        "UPDATE approvals SET state = 'spent' WHERE organization_id = $1 AND workspace_id = $2 AND approval_id = $3
         AND state = 'approved' AND expires_at > $4",
        values![organization, workspace, id.uuid(), now.micros()],
    )
    .await?;
    if spent == 0 {
        return Ok(false);
    }
    vault::remove(db, tenant, SecretOwner::Approval(id), None).await?;
    Ok(true)
}

fn shown_slot(id: ApprovalId) -> SecretSlot {
    SecretSlot {
        owner: SecretOwner::Approval(id),
        field: "arguments".to_owned(),
    }
}

async fn find(
    core: &Core,
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: ApprovalId,
) -> Result<Option<Approval>, StoreError> {
    let mut query = row::select(tenant);
    query.push(" AND approval_id = {}", id.uuid());
    match sql::one(db, &query.sql, query.values).await? {
        Some(row) => with_shown(core, db, tenant, &row).await.map(Some),
        None => Ok(None),
    }
}

async fn with_shown(
    core: &Core,
    db: &impl ConnectionTrait,
    tenant: Tenant,
    row: &QueryResult,
) -> Result<Approval, StoreError> {
    let mut approval = row::read(tenant, row)?;
    if let Some(shown) = vault::get(core, db, tenant, &shown_slot(approval.id)).await? {
        approval.shown = shown.expose().into();
    }
    Ok(approval)
}
