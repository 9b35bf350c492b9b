//! Why a tool may or may not be used, step by step.

use std::sync::Arc;

use domain::{Call, Reason, ToolRef};

use crate::{CallFacts, Effective};

/// What is asked about.
#[derive(Debug, Clone, Copy)]
pub enum Asked<'a> {
    /// The name callers use, or would use.
    Name(&'a str),
    /// Exactly this tool.
    Tool(&'a ToolRef),
}

/// Something that is looked at on the way to a decision, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gate {
    /// Whether the surface or endpoint has it.
    Surface,
    /// Whether the agent is enabled.
    Agent,
    /// Whether the connection is enabled, trusted and ready.
    Connection,
    /// Whether the connection offers it.
    Offered,
    /// Whether its definition can be used.
    Definition,
    /// What the grants say.
    Grant,
    /// What the turn's policy says.
    Turn,
    /// What the channel carries.
    Channel,
    /// What the rules say before any argument is known.
    Rules,
    /// What its risk says.
    Risk,
    /// What the remaining rules say of the arguments and the time.
    Call,
    /// What a person answered.
    Approval,
}

/// What came of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepOutcome {
    /// Nothing against it.
    Passed,
    /// A person is to be asked.
    Asks,
    /// It ends here.
    Stops,
    /// Not looked at: an earlier step ended it, or no call was given.
    NotReached,
}

/// One step of an explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What was looked at.
    pub gate: Gate,
    /// What came of it.
    pub outcome: StepOutcome,
    /// Why, where there is something to say.
    pub reason: Option<Reason>,
}

/// Why a tool may or may not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Which tool; none when nothing by that name is known.
    pub tool: Option<ToolRef>,
    /// The name callers use, or would use.
    pub exposed: Arc<str>,
    /// `allow`, `ask` or `deny`: what [`crate::decide`] says.
    pub decision: &'static str,
    /// Whether it is in the view at all.
    pub present: bool,
    /// The deciding reason; its sentence says what would change it.
    pub reason: Reason,
    /// Everything that was looked at, in order.
    pub steps: Vec<Step>,
    /// Rules that must still look at each call's arguments or time.
    pub residual: Vec<Arc<str>>,
}

/// Explains a tool, or a call of it. Agrees with [`crate::decide`].
#[must_use]
pub fn explain(effective: &Effective, asked: Asked<'_>, call: Option<(&Call, &CallFacts<'_>)>) -> Explanation {
    let _ = (effective, asked, call);
    todo!()
}
