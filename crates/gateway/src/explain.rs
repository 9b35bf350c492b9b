//! Why a tool may or may not be used: answered from the same view and by the same policy that decides.

use std::sync::Arc;

use domain::{Arguments, Call, CallId, Digest, Reason, Target, ToolRef};
use policy::{ApprovalFact, Asked, CallFacts, Explanation, Gate, StepOutcome};

use crate::{Failure, Gateway, View};

/// Why a tool may or may not be used.
#[derive(Debug, Clone)]
pub struct Explained {
    /// The name callers use, or would use.
    pub exposed: Arc<str>,
    /// `allow`, `ask` or `deny`.
    pub decision: &'static str,
    /// The deciding reason.
    pub reason: Reason,
    /// Everything that was looked at, in order.
    pub steps: Vec<ExplainedStep>,
    /// Rules that must still look at each call's arguments or time, by id.
    pub residual: Vec<Arc<str>>,
}

/// One thing that was looked at.
#[derive(Debug, Clone)]
pub struct ExplainedStep {
    /// What: `grant`, `rules` ….
    pub check: &'static str,
    /// What it said: `passed`, `asks`, `stops` or `not_reached`.
    pub outcome: &'static str,
    /// Why, where there is something to say.
    pub reason: Option<Reason>,
}

impl Gateway {
    /// Explains a tool by the name callers use or would use; with arguments, the decision about exactly that call.
    ///
    /// # Errors
    /// When approvals cannot be read.
    pub async fn explain(
        &self,
        view: &View,
        name: &str,
        arguments: Option<Arguments>,
    ) -> Result<Explained, Failure> {
        let former = view.by_former_name(name, self.inner.names);
        let name = match former.filter(|_| view.snapshot().by_name(name).is_none()) {
            Some(tool) => &*tool.exposed,
            None => name,
        };
        let asked = Asked::Name(name);
        let Some(arguments) = arguments else {
            return Ok(told(policy::explain(&view.effective, asked, None)));
        };
        let snapshot = view.snapshot();
        let (tool, definition) = match (snapshot.by_name(name), snapshot.why_absent(name)) {
            (Some(tool), _) => (tool.tool.clone(), tool.definition),
            (None, Some(absent)) => (absent.tool.clone(), Digest::of(b"")),
            (None, None) => (ToolRef::Capability(name.into()), Digest::of(b"")),
        };
        let call = Call {
            id: CallId::generate(),
            principal: view.key.principal,
            agent: Some(view.agent.id),
            channel: view.key.channel,
            surface: None,
            run: None,
            target: Target::Tool(tool),
            exposed: name.into(),
            definition,
            arguments,
        };
        let approval = self.answered(&call).await?;
        let fact = approval.as_ref().and_then(ApprovalFact::of);
        let facts = CallFacts {
            approval: fact.as_ref(),
            ..CallFacts::at(self.now())
        };
        Ok(told(policy::explain(
            &view.effective,
            asked,
            Some((&call, &facts)),
        )))
    }
}

fn told(explanation: Explanation) -> Explained {
    let steps = explanation.steps.into_iter().map(|step| ExplainedStep {
        check: check(step.gate),
        outcome: match step.outcome {
            StepOutcome::Passed => "passed",
            StepOutcome::Asks => "asks",
            StepOutcome::Stops => "stops",
            StepOutcome::NotReached => "not_reached",
        },
        reason: step.reason,
    });
    Explained {
        exposed: explanation.exposed,
        decision: explanation.decision,
        reason: explanation.reason,
        steps: steps.collect(),
        residual: explanation.residual,
    }
}

const fn check(gate: Gate) -> &'static str {
    match gate {
        Gate::Surface => "surface",
        Gate::Agent => "agent",
        Gate::Connection => "connection",
        Gate::Offered => "offered",
        Gate::Definition => "definition",
        Gate::Grant => "grant",
        Gate::Turn => "turn",
        Gate::Channel => "channel",
        Gate::Rules => "rules",
        Gate::Risk => "risk",
        Gate::Call => "call",
        Gate::Approval => "approval",
    }
}
