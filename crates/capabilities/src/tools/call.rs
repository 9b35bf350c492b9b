//! Calling a tool as an agent: the same road as for an MCP client.

use api::tools::{CallResult, CallTool};
use domain::{Channel, Effect, OutcomeCode, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use gateway::{Carried, Exchange, ReplyBody, ToolReply, ToolRequest};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::{convert, find};

/// Itself only carries the call: what the tool may do is decided, recorded and perhaps asked about on its own.
const CALL: Declaration = Declaration {
    id: "tools.call",
    title: "Call a tool",
    description: "Calls a tool as an agent, under that agent's grants and rules. Whatever comes of it is an answer: a result, a \
                  denial with its reason, or a question to a person.",
    method: Method::Post,
    path: "/tools/call",
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
    Capability::carrying(CALL, call, told)
}

fn call(context: Context, input: CallTool) -> Result<Carried, Failure> {
    let view = find::view(&context, input.agent.as_deref(), Channel::Api)?;
    let arguments = Value::Object(input.arguments.unwrap_or_default());
    let request = ToolRequest {
        name: input.name.into(),
        arguments: Some(to_raw_value(&arguments).map_err(|error| Failure::invalid_input(&error))?),
        exchange: Exchange::default(),
    };
    Ok(Carried { view, request })
}

fn told(reply: ToolReply) -> CallResult {
    let mut result = CallResult {
        call_id: reply.call.uuid(),
        status: convert::status(reply.outcome.status),
        code: reply.outcome.code.map(|code: OutcomeCode| code.to_string()),
        result: None,
        message: None,
        details: None,
        approval_id: None,
    };
    match reply.body {
        ReplyBody::Result(raw) | ReplyBody::InputRequired(raw) => {
            result.result = serde_json::from_str(raw.get()).ok()
        }
        ReplyBody::Error(error) => {
            result.message = Some(error.message);
            result.details = Some(json!({ "code": error.code, "data": error.data.as_deref() }));
        }
        ReplyBody::Notice(notice) => {
            result.message = Some(notice.text);
            result.details = Some(notice.details);
        }
        ReplyBody::Approval(notice) => {
            result.message = Some(notice.text);
            result.approval_id = Some(notice.approval.uuid());
            result.details =
                Some(json!({ "url": &*notice.url, "expires_at": convert::time(notice.expires_at) }));
        }
    }
    result
}
