//! Why a tool may or may not be used, step by step.

use std::sync::Arc;

use domain::{Call, Permission, Reason, ReasonCode, Target, ToolRef, Verdict};

use crate::compose::{Known, Present, Standing};
use crate::decide::{Says, judge};
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

/// Explains a tool, or a call of it. Agrees with [`crate::decide`]; without a call (or with one of something else), as far as can be
/// said before one.
#[must_use]
pub fn explain(
    effective: &Effective,
    asked: Asked<'_>,
    call: Option<(&Call, &CallFacts<'_>)>,
) -> Explanation {
    let found = match asked {
        Asked::Tool(tool) => effective.known(tool).map(|known| (tool.clone(), known)),
        Asked::Name(name) => by_name(effective, name),
    };
    let Some((tool, known)) = found else {
        return unknown(asked);
    };
    let call = call.filter(|(call, _)| matches!(&call.target, Target::Tool(called) if *called == tool));
    let (decision, reason) = match (
        call.map(|(call, facts)| judge(effective, call, facts)),
        &known.standing,
    ) {
        (Some(judgement), _) => (judgement.verdict, judgement.reason),
        (None, Standing::Absent(reason)) => (Says::Deny, reason.clone()),
        (None, Standing::Present(present)) => {
            let says = match present.tool.verdict {
                Verdict::Allow => Says::Allow,
                Verdict::Ask => Says::Ask,
            };
            (says, present.tool.reason.clone())
        }
    };
    let present = match &known.standing {
        Standing::Present(present) => Some(&**present),
        Standing::Absent(_) => None,
    };
    let residual = present
        .map(|present| present.tool.residual.clone())
        .unwrap_or_default();
    let path = Path {
        present,
        decision,
        reason: &reason,
        called: call.is_some(),
    };
    Explanation {
        tool: Some(tool),
        exposed: known.exposed.clone(),
        decision: decision.as_str(),
        present: present.is_some(),
        steps: path.steps(),
        reason,
        residual,
    }
}

fn by_name<'e>(effective: &'e Effective, name: &str) -> Option<(ToolRef, &'e Known)> {
    let snapshot = effective.snapshot();
    let tool = match snapshot.by_name(name) {
        Some(there) => &there.tool,
        None => &snapshot.why_absent(name)?.tool,
    };
    Some((tool.clone(), effective.known(tool)?))
}

fn unknown(asked: Asked<'_>) -> Explanation {
    let reason = Reason::new(ReasonCode::UnknownTool);
    let exposed = match asked {
        Asked::Name(name) => name.into(),
        Asked::Tool(tool) => tool.name().clone(),
    };
    let path = Path {
        present: None,
        decision: Says::Deny,
        reason: &reason,
        called: false,
    };
    let steps = path.steps();
    Explanation {
        tool: None,
        exposed,
        decision: Says::Deny.as_str(),
        present: false,
        reason,
        steps,
        residual: Vec::new(),
    }
}

/// The way to a decision that is already known.
struct Path<'a> {
    present: Option<&'a Present>,
    decision: Says,
    reason: &'a Reason,
    called: bool,
}

impl Path<'_> {
    fn steps(&self) -> Vec<Step> {
        Gate::ALL.into_iter().map(|gate| self.step(gate)).collect()
    }

    fn step(&self, gate: Gate) -> Step {
        let decided = self.gate();
        if self.decision == Says::Deny && gate == decided {
            return Step {
                gate,
                outcome: StepOutcome::Stops,
                reason: Some(self.reason.clone()),
            };
        }
        let asked = self.asking().filter(|(asking, _)| *asking == gate);
        if let Some((_, reason)) = asked
            && (self.decision != Says::Deny || gate < decided)
        {
            return Step {
                gate,
                outcome: StepOutcome::Asks,
                reason: Some(reason),
            };
        }
        let reached = match self.decision {
            Says::Deny => gate < decided,
            Says::Ask | Says::Allow => match gate {
                Gate::Call => self.called || self.present.is_some_and(|present| present.residual.is_none()),
                Gate::Approval => self.reason.code == ReasonCode::Approved,
                Gate::Surface
                | Gate::Agent
                | Gate::Connection
                | Gate::Offered
                | Gate::Definition
                | Gate::Grant
                | Gate::Turn
                | Gate::Channel
                | Gate::Rules
                | Gate::Risk => true,
            },
        };
        let outcome = if reached {
            StepOutcome::Passed
        } else {
            StepOutcome::NotReached
        };
        Step {
            gate,
            outcome,
            reason: self.remark(gate).filter(|_| reached),
        }
    }

    /// The step that decided.
    fn gate(&self) -> Gate {
        match gate_of(self.reason.code) {
            // A rule that spoke of a tool that is there spoke of the call.
            Gate::Rules if self.present.is_some() && self.said_at_call() => Gate::Call,
            gate => gate,
        }
    }

    fn said_at_call(&self) -> bool {
        self.present
            .is_some_and(|present| present.tool.reason != *self.reason)
    }

    /// The step at which a person is to be asked, if one is.
    fn asking(&self) -> Option<(Gate, Reason)> {
        let present = self.present?;
        match present.tool.verdict {
            Verdict::Ask => Some((gate_of(present.tool.reason.code), present.tool.reason.clone())),
            Verdict::Allow if self.decision == Says::Ask => Some((self.gate(), self.reason.clone())),
            Verdict::Allow => None,
        }
    }

    /// What there is to say at a step that passed.
    fn remark(&self, gate: Gate) -> Option<Reason> {
        let by_default = |present: &&Present| present.tool.reason.code == ReasonCode::PlatformDefault;
        match (gate, self.present.map(|present| present.permission)) {
            (Gate::Grant, Some(_)) if self.present.as_ref().is_some_and(by_default) => {
                Some(Reason::new(ReasonCode::PlatformDefault))
            }
            (Gate::Grant, Some(Permission::Unattended)) => Some(Reason::new(ReasonCode::GrantUnattended)),
            (Gate::Grant, Some(Permission::Allow)) => Some(Reason::new(ReasonCode::GrantAllows)),
            (Gate::Approval, Some(_)) => Some(self.reason.clone()),
            (_, _) => None,
        }
    }
}

impl Gate {
    /// All of them, in the order they are looked at.
    pub const ALL: [Self; 12] = [
        Self::Surface,
        Self::Agent,
        Self::Connection,
        Self::Offered,
        Self::Definition,
        Self::Grant,
        Self::Turn,
        Self::Channel,
        Self::Rules,
        Self::Risk,
        Self::Call,
        Self::Approval,
    ];

    /// The word used in every interface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Agent => "agent",
            Self::Connection => "connection",
            Self::Offered => "offered",
            Self::Definition => "definition",
            Self::Grant => "grant",
            Self::Turn => "turn",
            Self::Channel => "channel",
            Self::Rules => "rules",
            Self::Risk => "risk",
            Self::Call => "call",
            Self::Approval => "approval",
        }
    }
}

impl StepOutcome {
    /// The word used in every interface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Asks => "asks",
            Self::Stops => "stops",
            Self::NotReached => "not_reached",
        }
    }
}

const fn gate_of(code: ReasonCode) -> Gate {
    match code {
        ReasonCode::Surface
        | ReasonCode::UnknownTool
        | ReasonCode::PolicyStale
        | ReasonCode::RoleAllows
        | ReasonCode::RoleDenies => Gate::Surface,
        ReasonCode::AgentDisabled | ReasonCode::AgentUnclaimed => Gate::Agent,
        ReasonCode::ConnectionDisabled | ReasonCode::ConnectionUntrusted | ReasonCode::ConnectionNotReady => {
            Gate::Connection
        }
        ReasonCode::NotOffered => Gate::Offered,
        ReasonCode::Quarantined | ReasonCode::Gone | ReasonCode::SchemaUnusable => Gate::Definition,
        ReasonCode::NoGrant
        | ReasonCode::GrantDenies
        | ReasonCode::GrantAllows
        | ReasonCode::PlatformDefault
        | ReasonCode::GrantUnattended
        | ReasonCode::GrantAsks
        | ReasonCode::Revoked => Gate::Grant,
        ReasonCode::TurnPolicy | ReasonCode::TurnAsks => Gate::Turn,
        ReasonCode::ChannelExcludes => Gate::Channel,
        ReasonCode::RuleForbids | ReasonCode::RuleAsks | ReasonCode::RuleFailed => Gate::Rules,
        ReasonCode::HighRisk => Gate::Risk,
        ReasonCode::Approved | ReasonCode::Refused => Gate::Approval,
    }
}
