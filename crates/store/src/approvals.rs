//! Questions to people, and their answers.

use domain::{
    AgentId, Answer, Approval, ApprovalId, ApprovalState, CallId, Digest, Identity, Page, PageRequest,
    Principal, Target, Tenant,
};

use crate::{Store, StoreError};

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

impl Store {
    /// Stores a question. What is `shown` is sealed by the vault.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn park_approval(&self, tenant: Tenant, approval: &Approval) -> Result<(), StoreError> {
        Err(StoreError::Unimplemented)
    }

    /// The question with this id. `shown` is empty once the question is denied, spent or expired.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn approval(&self, tenant: Tenant, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
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
        Err(StoreError::Unimplemented)
    }

    /// Marks what has lapsed as expired, in every tenant, and writes the facts. Returns what it marked, at most 500 at a time.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn expire_approvals(&self) -> Result<Vec<(Tenant, ApprovalId)>, StoreError> {
        Err(StoreError::Unimplemented)
    }
}
