//! Questions to a person. A person or a program of theirs answers; an agent never does.

use api::Page;
use api::approvals::{Approval, ApprovalQuery, ListApprovals, ResolveApproval};
use domain::{ApprovalId, ApprovalState, Effect, Risk, Surface};
use gateway::Workspace;
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use store::ApprovalFilter;

use crate::{convert, find, paging};

/// None of these is ever an agent's tool.
const LIST: Declaration = Declaration {
    id: "list_approvals",
    title: "List approvals",
    description: "Lists calls that wait on a person, those that lapse first first; or closed ones, by state.",
    method: Method::Get,
    path: "/approvals",
    success: 200,
    paged: true,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli, Surface::Page],
    action: Action::Read,
    command: Some("approvals list"),
};

const SHOW: Declaration = Declaration {
    id: "approvals.show",
    title: "Show an approval",
    description: "Shows one question: exactly what would be sent, why a person is asked, and when it lapses.",
    path: "/approvals/{approval}",
    paged: false,
    command: None,
    ..LIST
};

const RESOLVE: Declaration = Declaration {
    id: "resolve_approval",
    title: "Answer an approval",
    description: "Answers a question for a person: approved or denied. An approval is for exactly that call, once; the caller \
                  repeats the call to use it.",
    method: Method::Post,
    path: "/approvals/{approval}/resolve",
    paged: false,
    risk: Risk::High,
    effect: Effect::Mutating,
    action: Action::Approve,
    command: Some("approvals resolve"),
    ..LIST
};

pub(crate) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(LIST, list),
        Capability::new(SHOW, show),
        Capability::new(RESOLVE, resolve),
    ]
}

async fn list(context: Context, query: ListApprovals) -> Result<Page<Approval>, Failure> {
    let agent = query
        .agent
        .as_deref()
        .map(|named| find::agent(&context, named))
        .transpose()?;
    let state = query
        .state
        .map_or(ApprovalState::Pending, convert::to_approval_state);
    let filter = ApprovalFilter {
        state: Some(state),
        agent: agent.map(|a| a.id),
    };
    let wanted = paging::request(query.cursor, query.limit);
    let page = context
        .store()
        .list_approvals(context.tenant(), filter, &wanted)
        .await?;
    let workspace = find::workspace(&context)?;
    Ok(paging::page(page, |approval| shown(&workspace, &approval)))
}

async fn show(context: Context, query: ApprovalQuery) -> Result<Approval, Failure> {
    let found = context
        .store()
        .approval(context.tenant(), ApprovalId::from_uuid(query.approval))
        .await?;
    let approval = found.ok_or_else(|| Failure::not_found("approval").at("approval"))?;
    Ok(shown(&*find::workspace(&context)?, &approval))
}

async fn resolve(context: Context, input: ResolveApproval) -> Result<Approval, Failure> {
    let id = ApprovalId::from_uuid(input.approval);
    let answer = convert::to_answer(input.decision);
    let gateway = context.gateway.clone();
    let approval = gateway.resolve(&context, id, answer, input.note).await?;
    Ok(shown(&*find::workspace(&context)?, &approval))
}

fn shown(workspace: &Workspace, approval: &domain::Approval) -> Approval {
    let connection = approval.target.connection();
    Approval {
        id: approval.id.uuid(),
        call_id: approval.call.uuid(),
        agent_id: approval.agent.uuid(),
        agent: workspace
            .agent(approval.agent)
            .map(|a| a.handle.to_string())
            .unwrap_or_default(),
        tool: approval.exposed.to_string(),
        connection_id: connection.map(|id| id.uuid()),
        connection: connection
            .and_then(|id| workspace.connection(id))
            .map(|c| c.namespace.to_string()),
        risk: workspace.risk(&approval.target).map(convert::risk),
        arguments: (!approval.shown.is_empty())
            .then(|| serde_json::from_str(&approval.shown).unwrap_or_default()),
        arguments_digest: approval.arguments.to_string(),
        definition_digest: approval.definition.to_string(),
        reason: approval.reason.code.to_string(),
        reason_text: approval.reason.sentence().to_owned(),
        rule: approval.reason.rule.as_deref().map(str::to_owned),
        state: convert::approval_state(approval.state),
        answered_by: approval
            .answered_by
            .map(|p| format!("{}:{}", p.kind(), p.id_text())),
        note: approval.note.clone(),
        created_at: convert::time(approval.created_at),
        expires_at: convert::time(approval.expires_at),
        answered_at: approval.answered_at.map(convert::time),
    }
}
