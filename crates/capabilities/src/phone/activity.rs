//! The tool calls of a telephone call, built-in and of connections.

use api::phone::{PhoneActivity, PhoneActivityQuery, PhoneToolCall};
use domain::{CallStatus, Endpoint, Fact, PhoneCallId, Target};
use gateway::Workspace;
use gateway::capability::{Capability, Context, Declaration, Failure};
use store::ActivityItem;

use super::{READ, calls};
use crate::{convert, find};

const ACTIVITY: Declaration = Declaration {
    id: "phone.activity",
    title: "List a telephone call's tool calls",
    description: "Lists what an agent used on a telephone call, oldest first: built-in tools and those of connections, and how each \
                  ended. Never arguments or results.",
    path: "/phone-calls/{phone_call}/activity",
    paged: false,
    ..READ
};

/// Calls of a page, where nothing else is asked for.
const PAGE: u16 = 50;

pub(super) fn capabilities() -> Vec<Capability> {
    vec![Capability::new(ACTIVITY, activity)]
}

async fn activity(context: Context, query: PhoneActivityQuery) -> Result<PhoneActivity, Failure> {
    let call = calls::known(&context, PhoneCallId::from_uuid(query.phone_call)).await?;
    let limit = query.limit.unwrap_or(PAGE);
    let offset = query.offset.unwrap_or(0);
    let external = query.external.unwrap_or(false);
    let (found, more) = context
        .store()
        .list_run(context.tenant(), call.run, external, (offset, limit))
        .await?;
    let workspace = find::workspace(&context)?;
    let next = offset.saturating_add(u32::try_from(found.len()).unwrap_or(u32::MAX));
    let uncertain = found.iter().any(|item| {
        matches!(
            item.status,
            CallStatus::Unknown | CallStatus::Started | CallStatus::Waiting
        )
    });
    Ok(PhoneActivity {
        next_offset: more.then_some(next),
        incomplete: uncertain || !call.status.is_over(),
        items: found
            .into_iter()
            .filter_map(|item| shown(item, &workspace))
            .collect(),
    })
}

fn shown(item: ActivityItem, workspace: &Workspace) -> Option<PhoneToolCall> {
    let Fact::Decided { target, .. } = item.decided.fact else {
        return None;
    };
    let id = target.connection();
    let connection = id.and_then(|id| workspace.connection(id));
    let url = connection.and_then(|connection| match &connection.endpoint {
        Endpoint::Url { url, .. } => Some(url.to_string()),
        Endpoint::Command { .. } => None,
    });
    Some(PhoneToolCall {
        id: item.decided.call.uuid(),
        tool: match &target {
            Target::Tool(tool) => tool.name().to_string(),
            Target::Prompt { name, .. } => format!("prompts/get {name}"),
            Target::Resource { uri, .. } => format!("resources/read {uri}"),
            Target::Skill { .. } => format!("skills/load {}", target.name()),
        },
        connection_id: id.map(|id| id.uuid()),
        connection_label: connection.map(|connection| connection.label.to_string()),
        server_url: url,
        connection_version: connection.map(|connection| connection.version),
        status: convert::call_status(item.status),
        code: item.code.map(|code| code.to_string()),
        at: convert::time(item.decided.at),
        ended_at: item.ended_at.map(convert::time),
    })
}
