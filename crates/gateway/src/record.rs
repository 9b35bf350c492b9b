//! Turns decisions and endings into entries of the record.

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::{
    Actor, ApprovalId, Call, CallId, Digest, Effect, Entry, Epoch, Fact, Outcome, OutcomeCode, Reason, Risk,
    Status, Tenant, Timestamp,
};
use policy::{Ask, Denial, Permit};

use crate::Gateway;

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
    pub(crate) fn entry(&self, at: Timestamp) -> Entry {
        let call = self.call;
        Entry {
            call: call.id,
            actor: Actor::of(&call.principal, call.agent),
            at,
            fact: Fact::Decided {
                target: call.target.clone(),
                exposed: call.exposed.clone(),
                channel: call.channel,
                surface: call.surface,
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
    Entry {
        call,
        actor,
        at,
        fact: Fact::Ended {
            outcome,
            duration_us,
            result,
        },
    }
}

/// Writes the end of a call once: when it is known, or when the call is dropped before. One that only reads was then cancelled;
/// of one that may change something nobody knows what came.
pub(crate) struct End {
    gateway: Gateway,
    call: CallId,
    tenant: Tenant,
    actor: Actor,
    effect: Effect,
    started: Instant,
    written: bool,
}

impl End {
    pub(crate) fn of(gateway: &Gateway, call: &Call, effect: Effect) -> Self {
        Self {
            gateway: gateway.clone(),
            call: call.id,
            tenant: call.principal.tenant,
            actor: Actor::of(&call.principal, call.agent),
            effect,
            started: Instant::now(),
            written: false,
        }
    }

    pub(crate) fn write(&mut self, outcome: Outcome, result: Option<Digest>) {
        self.written = true;
        let now = self.gateway.now();
        let entry = ended(
            self.call,
            self.actor.clone(),
            now,
            self.started.elapsed(),
            (outcome, result),
        );
        let store = &self.gateway.inner.store;
        let handed_over = match self.effect {
            Effect::ReadOnly => store.record_later(self.tenant, &entry),
            // Until it is in, a crash would show the call as unknown.
            Effect::Mutating => store.record(self.tenant, entry).map(drop),
        };
        if let Err(error) = handed_over {
            // The act has taken place: its answer stands. Without its end the call is shown as unknown.
            tracing::error!(%error, call = %self.call, "the end of a call could not be recorded");
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if !self.written {
            let outcome = match self.effect {
                Effect::ReadOnly => Outcome::failed(OutcomeCode::Cancelled),
                Effect::Mutating => Outcome::new(Status::Unknown, OutcomeCode::Unknown),
            };
            self.write(outcome, None);
        }
    }
}
