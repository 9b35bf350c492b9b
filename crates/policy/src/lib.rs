//! What an agent may use, and why: facts are composed into a snapshot, calls are decided against it.
//!
//! Pure and synchronous: no database, clock, network or runtime. [`compose`] turns [`Facts`] into an [`Effective`] policy;
//! [`decide`] answers one call with a [`Decision`]; only here is a [`Permit`] ever made. Rules are Cedar policies that only take
//! away (`docs/design/rules.md`).

mod compose;
mod decide;
mod decision;
mod explain;
mod facts;
mod fingerprint;
pub mod names;
mod operator;
mod rules;

pub use compose::{Effective, compose};
pub use decide::{decide, decide_context};
pub use decision::{Ask, Decision, Denial, Permit};
pub use explain::{Asked, Explanation, Gate, Step, StepOutcome, explain};
pub use facts::{
    AcceptNewTools, ApprovalFact, CallFacts, ConnectionFact, EndpointScope, Facts, ToolFact, TurnPolicy,
};
pub use names::NameLimits;
pub use operator::{Access, CapabilityFact, OperatorFacts, decide_operator};
pub use rules::{RuleProblem, RuleSet, RuleSource};
