//! The record, for auditors.

use api::audit::{AuditEntry, AuditVerification, VerifyAudit};
use api::{Page, PageQuery};
use domain::{Digest, Effect, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
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
    Ok(paging::page(page, shown))
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

fn shown(item: store::AuditEntry) -> AuditEntry {
    let store::AuditEntry {
        seq,
        entry,
        written,
        link,
    } = item;
    AuditEntry {
        seq,
        call_id: entry.call.uuid(),
        at: convert::time(entry.at),
        kind: entry.fact.kind().to_owned(),
        actor_kind: entry.actor.kind.to_string(),
        actor_id: (!entry.actor.id.is_empty()).then(|| entry.actor.id.to_string()),
        agent_id: entry.actor.agent.map(|a| a.uuid()),
        fact: written,
        hash: link.map(|link| link.link.to_string()),
    }
}
