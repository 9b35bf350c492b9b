//! Why a tool is there, asks, or is missing.

use api::tools::{ExplainTool, Explanation, ExplanationStep};
use domain::{Arguments, Channel, Effect, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::{convert, find};

const EXPLAIN: Declaration = Declaration {
    id: "tools.explain",
    title: "Explain a tool",
    description: "Says why an agent may use a tool, must ask, or may not, step by step, and what would change it. With \
                  arguments, the decision about exactly that call. Nothing is called.",
    method: Method::Post,
    path: "/tools/explain",
    success: 200,
    paged: false,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Use,
    command: None,
};

pub(super) fn capability() -> Capability {
    Capability::new(EXPLAIN, explain)
}

async fn explain(context: Context, input: ExplainTool) -> Result<Explanation, Failure> {
    let unknown = |_| {
        Failure::field(
            "channel",
            "not a channel: chat, voice, phone, sms, whatsapp, schedule, webhook, subagent, mcp, api",
        )
    };
    let channel = input
        .channel
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(unknown)?
        .unwrap_or(Channel::Mcp);
    let view = find::view(&context, input.agent.as_deref(), channel)?;
    let arguments = match input.arguments {
        None => None,
        Some(map) => {
            let raw = to_raw_value(&Value::Object(map)).map_err(|error| Failure::invalid_input(&error))?;
            Some(Arguments::new(raw).map_err(|error| Failure::invalid_input(&error))?)
        }
    };
    let gateway = context.gateway.clone();
    let said = gateway.explain(&view, &input.name, arguments).await?;
    Ok(Explanation {
        name: said.exposed.to_string(),
        decision: convert::decision(said.decision),
        reason: said.reason.code.to_string(),
        reason_text: said.reason.sentence().to_owned(),
        rule: said.reason.rule.as_deref().map(str::to_owned),
        steps: said
            .steps
            .iter()
            .map(|step| ExplanationStep {
                check: step.check.to_owned(),
                outcome: step.outcome.to_owned(),
                detail: step
                    .reason
                    .as_ref()
                    .map(|r| r.sentence().to_owned())
                    .unwrap_or_default(),
            })
            .collect(),
        snapshot: view.snapshot().digest.to_string(),
        epoch: view.snapshot().epoch.0,
    })
}
