//! Turns decisions and endings into entries of the record.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    Actor, ApprovalId, Call, CallId, Digest, Effect, Entry, Epoch, Fact, Outcome, Reason, Risk, Surface, Timestamp,
};
use policy::{Ask, Denial, Permit};

/// What a decision was and what it was made of.
pub(crate) struct Decided<'a> {
    pub(crate) call: &'a Call,
    pub(crate) decision: &'static str,
    pub(crate) reason: &'a Reason,
    pub(crate) risk: Risk,
    pub(crate) effect: Effect,
    pub(crate) approval: Option<ApprovalId>,
    pub(crate) epoch: Epoch,
    pub(crate) snapshot: Option<Digest>,
}

impl<'a> Decided<'a> {
    pub(crate) fn allowed(permit: &'a Permit) -> Self {
        Self {
            call: permit.call(),
            decision: "allow",
            reason: permit.reason(),
            risk: permit.risk(),
            effect: permit.effect(),
            approval: permit.approval(),
            epoch: permit.epoch(),
            snapshot: permit.snapshot(),
        }
    }

    pub(crate) fn asked(ask: &'a Ask, approval: ApprovalId) -> Self {
        Self {
            call: &ask.call,
            decision: "ask",
            reason: &ask.reason,
            risk: ask.risk,
            effect: ask.effect,
            approval: Some(approval),
            epoch: ask.epoch,
            snapshot: ask.snapshot,
        }
    }

    pub(crate) fn denied(denial: &'a Denial) -> Self {
        Self {
            call: &denial.call,
            decision: "deny",
            reason: &denial.reason,
            risk: denial.risk,
            effect: denial.effect,
            approval: denial.approval,
            epoch: denial.epoch,
            snapshot: denial.snapshot,
        }
    }

    /// The entry.
    pub(crate) fn entry(&self, at: Timestamp, surface: Option<Surface>) -> Entry {
        let call = self.call;
        Entry {
            call: call.id,
            actor: Actor::of(&call.principal, call.agent),
            at,
            fact: Fact::Decided {
                target: call.target.clone(),
                exposed: call.exposed.clone(),
                channel: call.channel,
                surface,
                run: call.run,
                arguments: call.arguments.digest(),
                definition: call.definition,
                snapshot: self.snapshot,
                decision: Arc::from(self.decision),
                reason: self.reason.clone(),
                risk: self.risk,
                effect: self.effect,
                approval: self.approval,
                epoch: self.epoch,
            },
        }
    }
}

/// The entry of a call's end.
pub(crate) fn ended(
    call: CallId,
    actor: Actor,
    at: Timestamp,
    duration: Duration,
    (outcome, result): (Outcome, Option<Digest>),
) -> Entry {
    let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    Entry { call, actor, at, fact: Fact::Ended { outcome, duration_us, result } }
}
