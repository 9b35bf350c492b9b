//! Questions to a person: parked without a task, answered once, used by exactly the call they were for.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    Answer, Approval, ApprovalId, ApprovalState, Call, Outcome, OutcomeCode, Principal, Status, Tenant,
    Timestamp,
};
use policy::Ask;
use store::{Answered, ApprovalMatch, StoreError};
use tokio::sync::broadcast::error::RecvError;

use crate::call::{ApprovalNotice, ReplyBody, ToolReply};
use crate::record::Decided;
use crate::{Changed, Context, Failure, FailureKind, Gateway};

impl Gateway {
    /// The answered question that is about exactly this call, newest first: a yes that was not used, or a no that still stands.
    pub(crate) async fn answered(&self, call: &Call) -> Result<Option<Approval>, StoreError> {
        let Some(wanted) = matching(call) else {
            return Ok(None);
        };
        let tenant = call.principal.tenant;
        let denied = self
            .inner
            .store
            .find_approval(tenant, &wanted, ApprovalState::Denied)
            .await?;
        let approved = self
            .inner
            .store
            .find_approval(tenant, &wanted, ApprovalState::Approved)
            .await?;
        Ok(match (approved, denied) {
            (Some(yes), Some(no)) => Some(if no.answered_at > yes.answered_at { no } else { yes }),
            (yes, no) => yes.or(no),
        })
    }

    /// Parks a call: asks a person, once, however often the caller repeats it meanwhile.
    pub(crate) async fn park(&self, ask: Ask) -> ToolReply {
        let call = ask.call.id;
        match self.question(&ask).await {
            Ok(approval) => {
                let outcome = Outcome::new(Status::Waiting, OutcomeCode::ApprovalRequired);
                self.write_unsent(&Decided::asked(&ask, approval.id), outcome);
                let url: Arc<str> = format!("{}/approvals/{}", self.inner.public_url, approval.id).into();
                let text = format!(
                    "a person must approve this call first ({}). Nothing was sent. It can be answered at {url} or with \
                     `switchboard approvals resolve {} approved`; then repeat exactly this call",
                    ask.reason.sentence(),
                    approval.id
                );
                let notice = ApprovalNotice {
                    approval: approval.id,
                    url,
                    expires_at: approval.expires_at,
                    text,
                };
                ToolReply {
                    call,
                    outcome,
                    body: ReplyBody::Approval(notice),
                }
            }
            Err(error) => {
                tracing::error!(%error, "a question to a person cannot be stored");
                let refused = crate::call::record_unavailable();
                ToolReply {
                    call,
                    outcome: refused.outcome,
                    body: refused.body,
                }
            }
        }
    }

    async fn question(&self, ask: &Ask) -> Result<Approval, StoreError> {
        let call = &ask.call;
        let tenant = call.principal.tenant;
        let (Some(agent), Some(wanted)) = (call.agent, matching(call)) else {
            return Err(StoreError::NotFound { what: "agent" });
        };
        // One at a time: callers that repeat a call side by side share one question.
        let _one_at_a_time = self.inner.asking.lock().await;
        if let Some(open) = self
            .inner
            .store
            .find_approval(tenant, &wanted, ApprovalState::Pending)
            .await?
        {
            return Ok(open);
        }
        let now = self.inner.clock.now();
        let approval = Approval {
            id: ApprovalId::generate(),
            call: call.id,
            principal: call.principal,
            agent,
            run: call.run,
            target: call.target.clone(),
            exposed: call.exposed.clone(),
            definition: call.definition,
            arguments: call.arguments.digest(),
            shown: Arc::from(call.arguments.raw().get()),
            reason: ask.reason.clone(),
            state: ApprovalState::Pending,
            answered_by: None,
            note: None,
            created_at: now,
            expires_at: now.plus(self.inner.approval_ttl),
            answered_at: None,
        };
        self.inner.store.park_approval(tenant, &approval).await?;
        Ok(approval)
    }

    /// Answers a question for a person.
    ///
    /// # Errors
    /// When it does not exist, is closed, or whoever answers may not: no agent and no agent-bound credential ever answers.
    pub async fn resolve(
        &self,
        context: &Context,
        id: ApprovalId,
        answer: Answer,
        note: Option<String>,
    ) -> Result<Approval, Failure> {
        if !context.principal.is_admin() || context.agent.is_some() {
            return Err(Failure::new(
                FailureKind::Forbidden,
                "approval.not_a_person",
                "an agent cannot answer an approval; a member or an administrator's key can",
            ));
        }
        let answered = Answered {
            call: context.call,
            answer,
            by: context.principal,
            note,
        };
        let approval = self
            .inner
            .store
            .answer_approval(context.tenant(), id, answered)
            .await?;
        self.notify(context.tenant(), Changed::Approval(id));
        Ok(approval)
    }

    /// Waits until a question is answered or closed, at most so long. Says how it then stands.
    ///
    /// # Errors
    /// When it does not exist, or the store fails.
    pub async fn wait_for_answer(
        &self,
        principal: &Principal,
        id: ApprovalId,
        at_most: Duration,
    ) -> Result<ApprovalState, Failure> {
        let mut changes = self.changes();
        let tenant = principal.tenant;
        let until = tokio::time::Instant::now() + at_most;
        loop {
            let state = self.approval_state(tenant, id).await?;
            if state != ApprovalState::Pending {
                return Ok(state);
            }
            loop {
                match tokio::time::timeout_at(until, changes.recv()).await {
                    Err(_) => return Ok(ApprovalState::Pending),
                    Ok(Ok(change)) if change.what == Changed::Approval(id) => break,
                    Ok(Ok(_)) => {}
                    Ok(Err(RecvError::Lagged(_))) => break,
                    Ok(Err(RecvError::Closed)) => return Ok(ApprovalState::Pending),
                }
            }
        }
    }

    async fn approval_state(&self, tenant: Tenant, id: ApprovalId) -> Result<ApprovalState, Failure> {
        let found = self.inner.store.approval(tenant, id).await?;
        let approval = found.ok_or_else(|| Failure::not_found("approval"))?;
        let lapsed = approval.state == ApprovalState::Pending && approval.expires_at <= self.now();
        Ok(if lapsed {
            ApprovalState::Expired
        } else {
            approval.state
        })
    }

    /// Closes questions whose time is over.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn expire_approvals(&self) -> Result<usize, StoreError> {
        let lapsed = self.inner.store.expire_approvals().await?;
        for (tenant, id) in &lapsed {
            self.notify(*tenant, Changed::Approval(*id));
        }
        Ok(lapsed.len())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }
}

fn matching(call: &Call) -> Option<ApprovalMatch> {
    Some(ApprovalMatch {
        agent: call.agent?,
        identity: call.principal.identity,
        target: call.target.clone(),
        definition: call.definition,
        arguments: call.arguments.digest(),
    })
}
