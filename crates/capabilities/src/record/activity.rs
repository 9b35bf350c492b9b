//! Activity: each call with its decision and its end.

use api::Page;
use api::activity::{Activity, ListActivity};
use domain::{CallId, Effect, Fact, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use store::{ActivityFilter, ActivityItem};

use crate::{convert, find, paging};

const LIST: Declaration = Declaration {
    id: "activity.list",
    title: "List activity",
    description: "Lists calls, newest first: who, what, what was decided and why, and how it ended. Never arguments or results.",
    method: Method::Get,
    path: "/activity",
    success: 200,
    paged: true,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Read,
    command: None,
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![Capability::new(LIST, list)]
}

async fn list(context: Context, query: ListActivity) -> Result<Page<Activity>, Failure> {
    let agent = query
        .agent
        .as_deref()
        .map(|named| find::agent(&context, named))
        .transpose()?;
    let connection = query
        .connection
        .as_deref()
        .map(|named| find::connection(&context, named))
        .transpose()?;
    let filter = ActivityFilter {
        agent: agent.map(|a| a.id),
        connection: connection.map(|c| c.id),
        status: query.status.map(convert::to_call_status),
        call: query.call.map(CallId::from_uuid),
        ..ActivityFilter::default()
    };
    let page = context
        .store()
        .list_activity(
            context.tenant(),
            &filter,
            &paging::request(query.cursor, query.limit),
        )
        .await?;
    let next_cursor = page.next_cursor;
    Ok(Page {
        items: page.items.into_iter().filter_map(shown).collect(),
        next_cursor,
    })
}

fn shown(item: ActivityItem) -> Option<Activity> {
    let Fact::Decided {
        target,
        exposed,
        channel,
        surface,
        decision,
        reason,
        risk,
        effect,
        approval,
        ..
    } = item.decided.fact
    else {
        return None;
    };
    let duration_us = match item.ended.map(|entry| entry.fact) {
        Some(Fact::Ended { duration_us, .. }) => Some(duration_us),
        _ => None,
    };
    let actor = item.decided.actor;
    Some(Activity {
        seq: item.seq,
        call_id: item.decided.call.uuid(),
        at: convert::time(item.decided.at),
        actor_kind: actor.kind.to_string(),
        actor_id: (!actor.id.is_empty()).then(|| actor.id.to_string()),
        agent_id: actor.agent.map(|a| a.uuid()),
        channel: channel.to_string(),
        surface: surface.map(|surface| surface.to_string()),
        kind: target.kind().to_owned(),
        connection_id: target.connection().map(|id| id.uuid()),
        name: target.name().to_string(),
        exposed_name: exposed.to_string(),
        decision: convert::decision(&decision),
        reason: reason.code.to_string(),
        rule: reason.rule.map(|rule| rule.to_string()),
        risk: convert::risk(risk),
        effect: convert::effect(effect),
        approval_id: approval.map(|id| id.uuid()),
        status: convert::call_status(item.status),
        code: item.code.map(|code| code.to_string()),
        duration_us,
    })
}
