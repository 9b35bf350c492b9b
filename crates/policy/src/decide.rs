//! One call, decided.

use domain::{
    Answer, ApprovalId, Call, ConnectionId, Effect, Reason, ReasonCode, Risk, Target, ToolRef, Verdict,
};

use crate::compose::{Known, Present, Standing};
use crate::rules::{CallView, ToolSubject, Word};
use crate::{ApprovalFact, Ask, CallFacts, Decision, Denial, Effective, Permit};

/// Decides one call in a view. Nothing is gained from `facts.current`: the stricter of the two views wins.
#[must_use]
pub fn decide(effective: &Effective, call: Call, facts: &CallFacts<'_>) -> Decision {
    let Judgement {
        verdict,
        reason,
        risk,
        effect,
        parallel,
        approval,
    } = judge(effective, &call, facts);
    let epoch = facts.current.unwrap_or(effective).snapshot().epoch;
    let snapshot = Some(effective.snapshot().digest);
    match verdict {
        Says::Allow => Decision::Allow(Permit {
            call,
            reason,
            risk,
            effect,
            parallel,
            approval,
            epoch,
            snapshot,
        }),
        Says::Ask => Decision::Ask(Ask {
            call,
            reason,
            risk,
            effect,
            epoch,
            snapshot,
        }),
        Says::Deny => Decision::Deny(Denial {
            call,
            reason,
            risk,
            effect,
            approval,
            epoch,
            snapshot,
        }),
    }
}

/// Decides the reading of a prompt, a resource or a skill's file: allowed where the snapshot grants the connection's prompts, resources
/// or skills and the connection offers that one. For a skill the call's definition is the manifest it was loaded by. A call of
/// a tool is denied here.
#[must_use]
pub fn decide_context(effective: &Effective, call: Call, facts: &CallFacts<'_>) -> Decision {
    match call.target {
        Target::Prompt { .. } | Target::Resource { .. } | Target::Skill { .. } => {
            decide(effective, call, facts)
        }
        Target::Tool(_) => {
            let Judgement {
                reason, risk, effect, ..
            } = Judgement::denies(ReasonCode::UnknownTool);
            let (epoch, snapshot) = (effective.snapshot().epoch, Some(effective.snapshot().digest));
            Decision::Deny(Denial {
                call,
                reason,
                risk,
                effect,
                approval: None,
                epoch,
                snapshot,
            })
        }
    }
}

/// What is said of a call. Ordered: the greater is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Says {
    Allow,
    Ask,
    Deny,
}

impl Says {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A decision, before the call is moved into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Says,
    pub(crate) reason: Reason,
    pub(crate) risk: Risk,
    pub(crate) effect: Effect,
    pub(crate) parallel: bool,
    pub(crate) approval: Option<ApprovalId>,
}

/// Both views, and then what a person answered.
pub(crate) fn judge(effective: &Effective, call: &Call, facts: &CallFacts<'_>) -> Judgement {
    if facts.stale {
        let told = look(effective, call, facts);
        return Judgement {
            verdict: Says::Deny,
            reason: Reason::new(ReasonCode::PolicyStale),
            approval: None,
            ..told
        };
    }
    let mut judgement = look(effective, call, facts);
    if let Some(current) = facts.current {
        judgement = stricter(judgement, look(current, call, facts));
    }
    if let Some(approval) = facts.approval.filter(|approval| answers(approval, call, facts)) {
        judgement = answered(judgement, approval);
    }
    judgement
}

impl Judgement {
    fn denies(code: ReasonCode) -> Self {
        Self {
            verdict: Says::Deny,
            reason: Reason::new(code),
            risk: Risk::High,
            effect: Effect::Mutating,
            parallel: false,
            approval: None,
        }
    }
}

/// What one view says, without any approval.
fn look(view: &Effective, call: &Call, facts: &CallFacts<'_>) -> Judgement {
    let snapshot = view.snapshot();
    let mine = call.principal == view.principal()
        && call.principal.tenant == snapshot.tenant
        && call.agent == Some(snapshot.agent)
        && call.channel == snapshot.channel;
    if !mine {
        return Judgement::denies(ReasonCode::UnknownTool);
    }
    match &call.target {
        Target::Tool(tool) => look_at_tool(view, tool, call, facts),
        Target::Prompt { connection, name } => {
            look_at_context(view, *connection, |access| access.reads_prompt(name))
        }
        Target::Resource { connection, uri } => {
            look_at_context(view, *connection, |access| access.reads_resource(uri))
        }
        Target::Skill { connection, uri } => look_at_context(view, *connection, |access| {
            access.loads_skill(uri, call.definition)
        }),
    }
}

fn look_at_tool(view: &Effective, tool: &ToolRef, call: &Call, facts: &CallFacts<'_>) -> Judgement {
    let Some(known) = view.known(tool) else {
        return Judgement::denies(ReasonCode::UnknownTool);
    };
    let Known { risk, effect, .. } = *known;
    let says = |verdict, reason| Judgement {
        verdict,
        reason,
        risk,
        effect,
        parallel: false,
        approval: None,
    };
    let present = match &known.standing {
        Standing::Absent(reason) => return says(Says::Deny, reason.clone()),
        Standing::Present(present) => present,
    };
    if call.definition != present.tool.definition {
        return says(Says::Deny, Reason::new(ReasonCode::Quarantined));
    }
    let judgement = match (word(view, known, present, call, facts), present.tool.verdict) {
        (Word::Forbids(rule), _) => says(Says::Deny, Reason::by_rule(ReasonCode::RuleForbids, rule)),
        (Word::Fails(rule), _) => says(Says::Deny, Reason::by_rule(ReasonCode::RuleFailed, rule)),
        (Word::Asks(rule), Verdict::Allow) => says(Says::Ask, Reason::by_rule(ReasonCode::RuleAsks, rule)),
        (Word::Asks(_) | Word::Silent, Verdict::Ask) => says(Says::Ask, present.tool.reason.clone()),
        (Word::Silent, Verdict::Allow) => says(Says::Allow, present.tool.reason.clone()),
    };
    Judgement {
        parallel: present.tool.parallel,
        ..judgement
    }
}

fn word(view: &Effective, known: &Known, present: &Present, call: &Call, facts: &CallFacts<'_>) -> Word {
    let Some(residual) = &present.residual else {
        return Word::Silent;
    };
    residual.judge(&CallView {
        who: view.who(),
        tool: ToolSubject {
            name: present.tool.tool.name(),
            namespace: known.namespace.as_ref().map(domain::Namespace::as_str),
            risk: known.risk,
            effect: known.effect,
        },
        arguments: call.arguments.value(),
        now: facts.now,
    })
}

fn look_at_context(
    view: &Effective,
    connection: ConnectionId,
    granted: impl Fn(&domain::ContextAccess) -> bool,
) -> Judgement {
    if !view.snapshot().context(connection).is_some_and(granted) {
        return Judgement::denies(ReasonCode::NoGrant);
    }
    Judgement {
        verdict: Says::Allow,
        reason: Reason::new(ReasonCode::GrantAllows),
        risk: Risk::Low,
        effect: Effect::ReadOnly,
        parallel: true,
        approval: None,
    }
}

/// A call in a run that began earlier: what the run has, less what was taken away since.
fn stricter(begun: Judgement, current: Judgement) -> Judgement {
    let taken_away = begun.verdict < Says::Deny
        && current.verdict == Says::Deny
        && matches!(current.reason.code, ReasonCode::NoGrant | ReasonCode::UnknownTool);
    let current = if taken_away {
        // The current view may not know the tool at all; what the run knew of it is the better record.
        Judgement {
            reason: Reason::new(ReasonCode::Revoked),
            risk: begun.risk,
            effect: begun.effect,
            ..current
        }
    } else {
        current
    };
    let effect = match (begun.effect, current.effect) {
        (Effect::ReadOnly, Effect::ReadOnly) => Effect::ReadOnly,
        (Effect::Mutating, _) | (_, Effect::Mutating) => Effect::Mutating,
    };
    let (risk, parallel) = (begun.risk.max(current.risk), begun.parallel && current.parallel);
    let decisive = if current.verdict > begun.verdict {
        current
    } else {
        begun
    };
    Judgement {
        risk,
        effect,
        parallel,
        ..decisive
    }
}

/// Whether an answer is about exactly this call and still holds.
fn answers(approval: &ApprovalFact, call: &Call, facts: &CallFacts<'_>) -> bool {
    approval.principal == call.principal
        && call.agent == Some(approval.agent)
        && approval.target == call.target
        && approval.definition == call.definition
        && approval.arguments == call.arguments.digest()
        && facts.now < approval.expires_at
}

/// An answer settles a question and nothing else: it never lifts a denial. A refusal holds even if nobody would ask any more.
fn answered(judgement: Judgement, approval: &ApprovalFact) -> Judgement {
    let (verdict, code) = match (judgement.verdict, approval.answer) {
        (Says::Deny, _) | (Says::Allow, Answer::Approved) => return judgement,
        (Says::Ask, Answer::Approved) => (Says::Allow, ReasonCode::Approved),
        (Says::Ask | Says::Allow, Answer::Denied) => (Says::Deny, ReasonCode::Refused),
    };
    Judgement {
        verdict,
        reason: Reason::new(code),
        approval: Some(approval.id),
        ..judgement
    }
}
