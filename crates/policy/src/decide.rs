//! One call, decided.

use domain::Call;

use crate::{CallFacts, Decision, Effective};

/// Decides one call in a view. Nothing is gained from `facts.current`: the stricter of the two views wins.
#[must_use]
pub fn decide(effective: &Effective, call: Call, facts: &CallFacts<'_>) -> Decision {
    let _ = (effective, call, facts);
    todo!()
}

/// Decides the reading of a prompt or resource: allowed where the snapshot grants the connection's prompts or resources.
#[must_use]
pub fn decide_context(effective: &Effective, call: Call, facts: &CallFacts<'_>) -> Decision {
    let _ = (effective, call, facts);
    todo!()
}
