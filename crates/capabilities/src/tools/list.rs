//! The tools of the workspace, and how an agent sees each.

use api::Page;
use api::tools::{Hints, ListTools, Tool, ToolView};
use domain::{Channel, Effect, GrantSubject, Reason, Risk, Surface, ToolRef, Verdict};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use gateway::{View, Workspace};

use crate::{convert, find, paging};

const LIST: Declaration = Declaration {
    id: "tools.list",
    title: "List tools",
    description: "Lists the tools of the workspace, built-in and imported. With an agent, also how that agent sees each: there, \
                  asking a person, or missing, and why.",
    method: Method::Get,
    path: "/tools",
    success: 200,
    paged: true,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Read,
    command: None,
};

pub(super) fn capability() -> Capability {
    Capability::new(LIST, list)
}

async fn list(context: Context, query: ListTools) -> Result<Page<Tool>, Failure> {
    let workspace = find::workspace(&context)?;
    let only = query
        .connection
        .as_deref()
        .map(|named| find::connection(&context, named))
        .transpose()?;
    let view = query
        .agent
        .as_deref()
        .map(|named| find::view(&context, Some(named), Channel::Mcp))
        .transpose()?;
    let mut tools: Vec<ToolRef> = workspace
        .tools()
        .filter(|t| only.as_ref().is_none_or(|c| t.connection() == Some(c.id)))
        .filter(|t| query.unclassified != Some(true) || !workspace.classified(t))
        .cloned()
        .collect();
    tools.sort_unstable();
    let page = paging::cut(
        "tools",
        tools,
        ToString::to_string,
        &paging::request(query.cursor, query.limit),
    )?;
    let items = page.items.iter().filter_map(|tool| {
        let mut shown = shown(&workspace, tool)?;
        if let Some(view) = &view {
            let (name, seen) = seen(view, tool);
            shown.name = name.unwrap_or(shown.name);
            shown.view = Some(seen);
        }
        Some(shown)
    });
    Ok(Page {
        items: items.collect(),
        next_cursor: page.next_cursor,
    })
}

/// A tool as administrators see it.
pub(crate) fn shown(workspace: &Workspace, tool: &ToolRef) -> Option<Tool> {
    let known = workspace.tool(tool)?;
    let connection = tool.connection().and_then(|id| workspace.connection(id));
    Some(Tool {
        name: known.exposed.to_string(),
        connection_id: tool.connection().map(|id| id.uuid()),
        connection: connection.map(|c| c.namespace.to_string()),
        tool: tool.name().to_string(),
        title: known.title,
        description: known.description,
        risk: convert::risk(known.risk),
        effect: convert::effect(known.effect),
        classified: known.classified,
        hints: Hints {
            read_only: known.hints.read_only,
            destructive: known.hints.destructive,
            idempotent: known.hints.idempotent,
            open_world: known.hints.open_world,
        },
        definition: convert::definition(known.state),
        definition_digest: known.digest.to_string(),
        problem: known.problem,
        view: None,
    })
}

fn seen(view: &View, tool: &ToolRef) -> (Option<String>, ToolView) {
    let snapshot = view.snapshot();
    let grant = view
        .workspace()
        .permission(view.agent().id, &GrantSubject::Tool(tool.clone()))
        .map(convert::permission);
    let say = |decision, reason: &Reason| ToolView {
        decision,
        reason: reason.code.to_string(),
        reason_text: reason.sentence().to_owned(),
        rule: reason.rule.as_deref().map(str::to_owned),
        grant,
    };
    if let Some(there) = snapshot.by_tool(tool) {
        let decision = match there.verdict {
            Verdict::Allow => api::words::Decision::Allow,
            Verdict::Ask => api::words::Decision::Ask,
        };
        return (Some(there.exposed.to_string()), say(decision, &there.reason));
    }
    let absent = snapshot.absent.iter().find(|a| a.tool == *tool);
    let name = absent.map(|a| a.exposed.to_string());
    let unknown = Reason::new(domain::ReasonCode::UnknownTool);
    (
        name,
        say(api::words::Decision::Deny, absent.map_or(&unknown, |a| &a.reason)),
    )
}
