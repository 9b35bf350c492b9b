//! The record, for auditors.

use api::audit::{AuditEntry, AuditVerification, VerifyAudit};
use api::{Page, PageQuery};
use domain::{Digest, Effect, Entry, Fact, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use serde_json::{Value, json};
use store::{AuditFilter, Head};

use crate::{convert, paging};

const LIST: Declaration = Declaration {
    id: "audit.list",
    title: "List the record",
    description: "Lists the facts of the record, newest first, each with its link in the chain of hashes.",
    method: Method::Get,
    path: "/audit",
    success: 200,
    paged: true,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Read,
    command: None,
};

const VERIFY: Declaration = Declaration {
    id: "audit.verify",
    title: "Verify the record",
    description: "Recomputes the chain of hashes over the whole record: finds what was changed, removed, inserted or reordered. \
                  With a head noted earlier, also what was cut off at the end.",
    path: "/audit/verification",
    paged: false,
    ..LIST
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![Capability::new(LIST, list), Capability::new(VERIFY, verify)]
}

async fn list(context: Context, query: PageQuery) -> Result<Page<AuditEntry>, Failure> {
    let wanted = paging::request(query.cursor, query.limit);
    let page = context
        .store()
        .list_audit(context.tenant(), &AuditFilter::default(), &wanted)
        .await?;
    Ok(paging::page(page, |entry| {
        shown(entry.seq, entry.entry, entry.link.map(|link| link.link))
    }))
}

async fn verify(context: Context, query: VerifyAudit) -> Result<AuditVerification, Failure> {
    let expected = match (query.expected_seq, query.expected_hash) {
        (None, None) => None,
        (Some(seq), Some(hash)) => {
            let bad = |_| Failure::field("expected_hash", "a hash has 64 hexadecimal digits");
            Some(Head {
                seq,
                link: hash.parse::<Digest>().map_err(bad)?,
            })
        }
        _ => {
            return Err(Failure::field(
                "expected_seq",
                "give both expected_seq and expected_hash, or neither",
            ));
        }
    };
    let found = context.store().verify(context.tenant(), expected, |_| {}).await?;
    Ok(AuditVerification {
        intact: found.first_bad.is_none(),
        entries: found.entries,
        linked: found.links,
        unchained_tail: found.unchained_tail,
        broken_at: found.first_bad.as_ref().map(|bad| bad.seq),
        broken_because: found.first_bad.map(|bad| bad.what.to_string()),
        head_seq: found.head.as_ref().map(|head| head.seq),
        head_hash: found.head.map(|head| head.link.to_string()),
    })
}

fn shown(seq: i64, entry: Entry, hash: Option<Digest>) -> AuditEntry {
    AuditEntry {
        seq,
        call_id: entry.call.uuid(),
        at: convert::time(entry.at),
        kind: entry.fact.kind().to_owned(),
        actor_kind: entry.actor.kind.to_string(),
        actor_id: (!entry.actor.id.is_empty()).then(|| entry.actor.id.to_string()),
        agent_id: entry.actor.agent.map(|a| a.uuid()),
        fact: fact(&entry.fact),
        hash: hash.map(|hash| hash.to_string()),
    }
}

fn fact(fact: &Fact) -> Value {
    match fact {
        Fact::Decided {
            target,
            exposed,
            channel,
            surface,
            run,
            arguments,
            definition,
            snapshot,
            decision,
            reason,
            risk,
            effect,
            approval,
            epoch,
        } => json!({
            "kind": target.kind(),
            "connection_id": target.connection().map(|id| id.to_string()),
            "name": &**target.name(),
            "exposed_name": &**exposed,
            "channel": channel.as_str(),
            "surface": surface.map(domain::Surface::as_str),
            "run_id": run.map(|run| run.to_string()),
            "arguments_digest": arguments.to_string(),
            "definition_digest": definition.to_string(),
            "snapshot_digest": snapshot.map(|digest| digest.to_string()),
            "decision": &**decision,
            "reason": reason.code.as_str(),
            "rule": reason.rule.as_deref(),
            "risk": risk.as_str(),
            "effect": effect.as_str(),
            "approval_id": approval.map(|id| id.to_string()),
            "epoch": epoch.0,
        }),
        Fact::Ended {
            outcome,
            duration_us,
            result,
        } => json!({
            "status": outcome.status.as_str(),
            "code": outcome.code.map(domain::OutcomeCode::as_str),
            "duration_us": duration_us,
            "result_digest": result.map(|digest| digest.to_string()),
        }),
        Fact::Answered { approval, answer } => {
            json!({ "approval_id": approval.to_string(), "answer": &**answer })
        }
        Fact::Changed { action, kind, object } => {
            json!({ "action": &**action, "change": kind.as_str(), "object": &**object })
        }
    }
}
