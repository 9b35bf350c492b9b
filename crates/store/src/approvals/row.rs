//! A question as a row.

use domain::{
    AgentId, Approval, ApprovalId, ApprovalState, CallId, ConnectionId, ConsentId, Identity, KeyId, KeyKind,
    MemberId, Principal, Reason, Role, RunId, Tenant, Timestamp,
};
use sea_orm::{ConnectionTrait, QueryResult};
use uuid::Uuid;

use super::{Answered, ApprovalMatch};
use crate::StoreError;
use crate::journal::codec;
use crate::sql::{self, Query, corrupt, digest, get, time, time_or_none, values, word};

const COLUMNS: &str = "organization_id, workspace_id, approval_id, seq, call_id, principal_kind, principal_id, principal_agent,
 agent_id, run_id, target_kind, connection_id, target_name, exposed, definition, arguments, reason_code, reason_rule, state,
 by_kind, by_id, by_agent, note, created_at, expires_at, answered_at";

/// Questions of a tenant.
pub(super) fn select(tenant: Tenant) -> Query {
    Query::of(
        tenant,
        &format!("SELECT {COLUMNS} FROM approvals WHERE organization_id = $1 AND workspace_id = $2"),
    )
}

/// Questions that a call matches.
pub(super) fn matching(tenant: Tenant, call: &ApprovalMatch) -> Query {
    let mut query = select(tenant);
    let (kind, id, _) = identity_parts(call.identity);
    query.push(" AND arguments = {}", call.arguments.bytes().to_vec());
    query.push(" AND definition = {}", call.definition.bytes().to_vec());
    query.push(" AND agent_id = {}", call.agent.uuid());
    query.push(" AND principal_kind = {}", kind);
    query.push(" AND target_kind = {}", call.target.kind());
    query.push(" AND target_name = {}", call.target.name().to_string());
    match id {
        Some(id) => query.push(" AND principal_id = {}", id),
        None => query.sql.push_str(" AND principal_id IS NULL"),
    }
    match call.target.connection() {
        Some(connection) => query.push(" AND connection_id = {}", connection.uuid()),
        None => query.sql.push_str(" AND connection_id IS NULL"),
    }
    query
}

/// Stores a question.
pub(super) async fn insert(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    seq: i64,
    approval: &Approval,
) -> Result<(), StoreError> {
    let (organization, workspace) = sql::of(tenant);
    let (kind, id, agent) = identity_parts(approval.principal.identity);
    let by = approval.answered_by.map(|by| identity_parts(by.identity));
    let values = values![
        organization,
        workspace,
        approval.id.uuid(),
        seq,
        approval.call.uuid(),
        kind,
        id,
        agent,
        approval.agent.uuid(),
        approval.run.map(RunId::uuid),
        approval.target.kind(),
        approval.target.connection().map(ConnectionId::uuid),
        approval.target.name().to_string(),
        approval.exposed.to_string(),
        approval.definition.bytes().to_vec(),
        approval.arguments.bytes().to_vec(),
        approval.reason.code.as_str(),
        approval.reason.rule.as_ref().map(ToString::to_string),
        approval.state.as_str(),
        by.map(|(kind, ..)| kind.to_owned()),
        by.and_then(|(_, id, _)| id),
        by.and_then(|(.., agent)| agent),
        approval.note.clone(),
        approval.created_at.micros(),
        approval.expires_at.micros(),
        approval.answered_at.map(Timestamp::micros)
    ];
    let places: Vec<String> = (1..=values.len()).map(|n| format!("${n}")).collect();
    let text = format!("INSERT INTO approvals ({COLUMNS}) VALUES ({})", places.join(", "));
    sql::run(db, &text, values).await?;
    Ok(())
}

/// Answers a question that is pending and has not lapsed; says whether it was.
pub(super) async fn answer(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: ApprovalId,
    (state, answered, now): (ApprovalState, &Answered, Timestamp),
) -> Result<bool, StoreError> {
    let (organization, workspace) = sql::of(tenant);
    let (by_kind, by_id, by_agent) = identity_parts(answered.by.identity);
    let touched = sql::run(
        db,
        "UPDATE approvals SET state = $4, by_kind = $5, by_id = $6, by_agent = $7, note = $8, answered_at = $9
         WHERE organization_id = $1 AND workspace_id = $2 AND approval_id = $3 AND state = 'pending' AND expires_at > $9",
        values![
            organization,
            workspace,
            id.uuid(),
            state.as_str(),
            by_kind,
            by_id,
            by_agent,
            answered.note.clone(),
            now.micros()
        ],
    )
    .await?;
    Ok(touched > 0)
}

/// Marks a question as lapsed, if it has; gives its call and agent.
pub(super) async fn expire(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    id: ApprovalId,
    now: Timestamp,
) -> Result<Option<(CallId, AgentId)>, StoreError> {
    let (organization, workspace) = sql::of(tenant);
    let row = sql::one(
        db,
        "UPDATE approvals SET state = 'expired' WHERE organization_id = $1 AND workspace_id = $2 AND approval_id = $3
         AND state IN ('pending', 'approved') AND expires_at <= $4 RETURNING call_id, agent_id",
        values![organization, workspace, id.uuid(), now.micros()],
    )
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some((
        CallId::from_uuid(get(&row, "call_id")?),
        AgentId::from_uuid(get(&row, "agent_id")?),
    )))
}

/// Reads a row; what is shown is not in it.
pub(super) fn read(tenant: Tenant, row: &QueryResult) -> Result<Approval, StoreError> {
    let principal = identity(row, "principal_kind", "principal_id", "principal_agent")?;
    let principal = principal.ok_or_else(|| corrupt("approval", "nobody asks"))?;
    let by = identity(row, "by_kind", "by_id", "by_agent")?;
    let target_kind: String = get(row, "target_kind")?;
    let target_name: String = get(row, "target_name")?;
    Ok(Approval {
        id: ApprovalId::from_uuid(get(row, "approval_id")?),
        call: CallId::from_uuid(get(row, "call_id")?),
        principal: Principal {
            tenant,
            identity: principal,
        },
        agent: AgentId::from_uuid(get(row, "agent_id")?),
        run: get::<Option<Uuid>>(row, "run_id")?.map(RunId::from_uuid),
        target: codec::target(&target_kind, get(row, "connection_id")?, &target_name)?,
        exposed: get::<String>(row, "exposed")?.into(),
        definition: digest(row, "definition")?,
        arguments: digest(row, "arguments")?,
        shown: "".into(),
        reason: Reason {
            code: word(row, "reason_code")?,
            rule: get::<Option<String>>(row, "reason_rule")?.map(Into::into),
        },
        state: word(row, "state")?,
        answered_by: by.map(|identity| Principal { tenant, identity }),
        note: get(row, "note")?,
        created_at: time(row, "created_at")?,
        expires_at: time(row, "expires_at")?,
        answered_at: time_or_none(row, "answered_at")?,
    })
}

fn identity_parts(identity: Identity) -> (&'static str, Option<Uuid>, Option<Uuid>) {
    match identity {
        Identity::Member { id, .. } => ("member", Some(id.uuid()), None),
        Identity::Key {
            id,
            kind: KeyKind::Admin,
        } => ("admin_key", Some(id.uuid()), None),
        Identity::Key {
            id,
            kind: KeyKind::Agent(agent),
        } => ("agent_key", Some(id.uuid()), Some(agent.uuid())),
        Identity::Client { consent, agent } => ("mcp_client", Some(consent.uuid()), Some(agent.uuid())),
        Identity::System => ("system", None, None),
    }
}

fn identity(
    row: &QueryResult,
    kind: &'static str,
    id: &'static str,
    agent: &'static str,
) -> Result<Option<Identity>, StoreError> {
    let Some(word) = get::<Option<String>>(row, kind)? else {
        return Ok(None);
    };
    let id = get::<Option<Uuid>>(row, id)?;
    let agent = get::<Option<Uuid>>(row, agent)?.map(AgentId::from_uuid);
    let identity = match (word.as_str(), id, agent) {
        // What they may do is looked up where it matters; here it is who they were.
        ("member", Some(id), _) => Identity::Member {
            id: MemberId::from_uuid(id),
            role: Role::Viewer,
        },
        ("admin_key", Some(id), _) => Identity::Key {
            id: KeyId::from_uuid(id),
            kind: KeyKind::Admin,
        },
        ("agent_key", Some(id), Some(agent)) => Identity::Key {
            id: KeyId::from_uuid(id),
            kind: KeyKind::Agent(agent),
        },
        ("mcp_client", Some(id), Some(agent)) => Identity::Client {
            consent: ConsentId::from_uuid(id),
            agent,
        },
        ("system", ..) => Identity::System,
        _ => return Err(corrupt("approval", "its principal is not known")),
    };
    Ok(Some(identity))
}
