//! The rest of a call: decide, perhaps ask a person, record, dispatch, record.

use std::sync::Arc;

use domain::{Actor, Call, Effect, Outcome, OutcomeCode, Reason, ReasonCode, Risk, Status, Verdict};
use policy::{ApprovalFact, CallFacts, Decision};
use serde_json::json;

use super::dispatch::{Asked, Finished};
use super::prepare::{Prepared, Step};
use super::{Exchange, Notice, ReplyBody, ToolReply};
use crate::record::{Decided, ended};
use crate::view::{Today, revoked};
use crate::wave::skipped_text;
use crate::{Gateway, View};

/// How often a call is decided again because the policy changed under it.
const DECISIONS: usize = 4;

/// A call that was decided and cannot go further.
pub(crate) struct Refused {
    pub(crate) outcome: Outcome,
    pub(crate) body: ReplyBody,
}

impl Gateway {
    /// Brings a prepared call to its end.
    pub(crate) async fn conclude(&self, view: &Arc<View>, prepared: Prepared) -> ToolReply {
        let Prepared { step, exchange, .. } = prepared;
        if let Err(refused) = self.store_snapshot(view).await {
            let call = step.call().id;
            return ToolReply {
                call,
                outcome: refused.outcome,
                body: refused.body,
            };
        }
        match step {
            Step::Decide { call, .. } => self.decide(view, *call, exchange).await,
            Step::Absent { call, reason } => self.absent(view, &call, &reason),
            Step::Invalid {
                call,
                tool,
                violations,
            } => {
                let text = violations
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join("; ");
                let details = json!({ "violations": violations.iter().map(|v| json!({
                    "path": v.instance, "schema_path": v.schema, "keyword": v.keyword, "constraint": v.constraint,
                })).collect::<Vec<_>>() });
                let notice = Notice {
                    code: OutcomeCode::InvalidArguments.as_str(),
                    text: format!("the arguments do not fit the tool's schema, so nothing was sent: {text}"),
                    details,
                };
                self.unsent(
                    view,
                    &call,
                    (tool.verdict, &tool.reason, tool.risk, tool.effect),
                    notice,
                )
            }
            Step::Unreadable { call, tool, why } => {
                let code = OutcomeCode::InvalidArguments.as_str();
                let notice = Notice {
                    code,
                    text: format!("{why}, so nothing was sent"),
                    details: json!({}),
                };
                self.unsent(
                    view,
                    &call,
                    (tool.verdict, &tool.reason, tool.risk, tool.effect),
                    notice,
                )
            }
            Step::Skipped { call, code } => {
                let tool = view.snapshot().by_name(&call.exposed);
                let notice = Notice {
                    code: code.as_str(),
                    text: skipped_text(code).to_owned(),
                    details: json!({}),
                };
                match tool {
                    Some(tool) => self.unsent(
                        view,
                        &call,
                        (tool.verdict, &tool.reason, tool.risk, tool.effect),
                        notice,
                    ),
                    None => self.absent(view, &call, &Reason::new(ReasonCode::UnknownTool)),
                }
            }
        }
    }

    /// A snapshot is stored before the first call that is decided in it.
    async fn store_snapshot(&self, view: &View) -> Result<(), Refused> {
        let put = || async { self.inner.store.put_snapshot(view.snapshot()).await };
        view.stored
            .get_or_try_init(put)
            .await
            .map(|_| ())
            .map_err(|error| {
                tracing::error!(%error, "the snapshot of a view cannot be stored");
                record_unavailable()
            })
    }

    async fn decide(&self, view: &Arc<View>, call: Call, exchange: Exchange) -> ToolReply {
        let id = call.id;
        let mut call = call;
        for _ in 0..DECISIONS {
            let decision = match self.with_approval(view, call).await {
                Ok(decision) => decision,
                Err(refused) => {
                    return ToolReply {
                        call: id,
                        outcome: refused.outcome,
                        body: refused.body,
                    };
                }
            };
            match decision {
                Decision::Deny(denial) => return self.denied(&denial),
                Decision::Ask(ask) => return self.park(ask).await,
                Decision::Allow(permit) => {
                    match self.run(view, permit, exchange.clone(), Asked::Call).await {
                        Ok(finished) => return reply(id, finished),
                        Err(Stopped::Refused(refused)) => {
                            return ToolReply {
                                call: id,
                                outcome: refused.outcome,
                                body: refused.body,
                            };
                        }
                        Err(Stopped::DecideAgain(same)) => {
                            call = *same;
                            if let Err(error) = self.refresh(view.key.principal.tenant).await {
                                tracing::error!(%error, "the policy facts cannot be read");
                                let refused = record_unavailable();
                                return ToolReply {
                                    call: id,
                                    outcome: refused.outcome,
                                    body: refused.body,
                                };
                            }
                        }
                    }
                }
            }
        }
        // The policy keeps changing while this call is decided.
        self.absent(view, &call, &Reason::new(ReasonCode::PolicyStale))
    }

    /// Decides, in the view the call began in and, should that be an older one, in today's: nothing is gained, and what was taken
    /// away is gone. Where a person must be asked, looks whether one answered already and decides again with that fact.
    async fn with_approval(&self, view: &Arc<View>, call: Call) -> Result<Decision, Refused> {
        let now = self.inner.clock.now();
        let today = self.today(view);
        let current = match &today {
            Today::Same => None,
            Today::Other(today) => Some(&today.effective),
            Today::Gone => return Ok(Decision::Deny(revoked(view, call))),
        };
        let facts = CallFacts {
            current,
            ..CallFacts::at(now)
        };
        let first = policy::decide(&view.effective, call, &facts);
        let Decision::Ask(ask) = first else {
            return Ok(first);
        };
        match self.answered(&ask.call).await {
            Ok(None) => Ok(Decision::Ask(ask)),
            Ok(Some(approval)) => {
                let fact = ApprovalFact::of(&approval);
                let facts = CallFacts {
                    approval: fact.as_ref(),
                    ..facts
                };
                Ok(policy::decide(&view.effective, ask.call, &facts))
            }
            Err(error) => {
                tracing::error!(%error, "approvals cannot be read");
                Err(record_unavailable())
            }
        }
    }

    /// Denies a call of a tool that is not there. What is known of the tool goes into the record.
    fn absent(&self, view: &View, call: &Call, reason: &Reason) -> ToolReply {
        let (risk, effect) = view
            .workspace
            .weight(&call.target)
            .unwrap_or((Risk::High, Effect::Mutating));
        let decided = Decided {
            call,
            decision: "deny",
            reason,
            risk,
            effect,
            approval: None,
            epoch: view.snapshot().epoch,
            snapshot: Some(view.snapshot().digest),
        };
        self.write_denial(&decided)
    }

    /// Runs a permitted request about a prompt or resource.
    pub(crate) async fn run_context(
        &self,
        view: &View,
        permit: policy::Permit,
        exchange: Exchange,
        asked: Asked,
    ) -> ToolReply {
        let call = permit.call().id;
        if let Err(refused) = self.store_snapshot(view).await {
            return ToolReply {
                call,
                outcome: refused.outcome,
                body: refused.body,
            };
        }
        match self.run(view, permit, exchange, asked).await {
            Ok(finished) => reply(call, finished),
            Err(Stopped::Refused(refused)) => ToolReply {
                call,
                outcome: refused.outcome,
                body: refused.body,
            },
            Err(Stopped::DecideAgain(_)) => {
                let refused = record_unavailable();
                ToolReply {
                    call,
                    outcome: refused.outcome,
                    body: refused.body,
                }
            }
        }
    }

    pub(crate) fn denied(&self, denial: &policy::Denial) -> ToolReply {
        self.write_denial(&Decided::denied(denial))
    }

    pub(crate) fn write_denial(&self, decided: &Decided<'_>) -> ToolReply {
        let outcome = Outcome::new(Status::Denied, OutcomeCode::Denied);
        self.write_unsent(decided, outcome);
        let reason = decided.reason;
        let notice = Notice {
            code: reason.code.as_str(),
            text: format!("denied: {}", reason.sentence()),
            details: json!({ "reason": reason.code.as_str(), "rule": reason.rule.as_deref() }),
        };
        ToolReply {
            call: decided.call.id,
            outcome,
            body: ReplyBody::Notice(notice),
        }
    }

    /// A call that policy would let through but that is not sent.
    fn unsent(
        &self,
        view: &View,
        call: &Call,
        (verdict, reason, risk, effect): (Verdict, &Reason, Risk, Effect),
        notice: Notice,
    ) -> ToolReply {
        let decided = Decided {
            call,
            decision: verdict.as_str(),
            reason,
            risk,
            effect,
            approval: None,
            epoch: view.snapshot().epoch,
            snapshot: Some(view.snapshot().digest),
        };
        let code = notice.code.parse().unwrap_or(OutcomeCode::Internal);
        let outcome = Outcome::failed(code);
        self.write_unsent(&decided, outcome);
        ToolReply {
            call: call.id,
            outcome,
            body: ReplyBody::Notice(notice),
        }
    }

    /// Writes both facts of a call that was not sent. When they cannot be written the answer stands: nothing happened.
    pub(crate) fn write_unsent(&self, decided: &Decided<'_>, outcome: Outcome) {
        let now = self.inner.clock.now();
        let call = decided.call;
        let tenant = call.principal.tenant;
        let end = ended(
            call.id,
            Actor::of(&call.principal, call.agent),
            now,
            std::time::Duration::ZERO,
            (outcome, None),
        );
        for entry in [decided.entry(now), end] {
            if let Err(error) = self.inner.store.record(tenant, entry) {
                tracing::error!(%error, call = %call.id, "a refusal could not be recorded");
            }
        }
    }
}

/// Why a permitted call did not run.
pub(super) enum Stopped {
    /// The policy or the approval changed meanwhile: decide again.
    DecideAgain(Box<Call>),
    /// It cannot run.
    Refused(Refused),
}

impl Step {
    fn call(&self) -> &Call {
        match self {
            Self::Decide { call, .. }
            | Self::Absent { call, .. }
            | Self::Invalid { call, .. }
            | Self::Unreadable { call, .. }
            | Self::Skipped { call, .. } => call,
        }
    }
}

fn reply(call: domain::CallId, finished: Finished) -> ToolReply {
    ToolReply {
        call,
        outcome: finished.outcome,
        body: finished.body,
    }
}

/// Nothing can be recorded, so nothing is done.
pub(crate) fn record_unavailable() -> Refused {
    unrecorded(
        "the record cannot be written at the moment, so the call was refused; nothing was sent; try again later",
    )
}

/// A call that only reads was sent and cannot be recorded, so its result stays here.
pub(super) fn withheld() -> Refused {
    unrecorded("the record cannot be written at the moment, so the call gives no result; try again later")
}

fn unrecorded(text: &str) -> Refused {
    let notice = Notice {
        code: OutcomeCode::RecordUnavailable.as_str(),
        text: text.to_owned(),
        details: json!({}),
    };
    Refused {
        outcome: Outcome::failed(OutcomeCode::RecordUnavailable),
        body: ReplyBody::Notice(notice),
    }
}
