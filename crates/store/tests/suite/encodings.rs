//! Stored documents: what was written comes back, and what an earlier release wrote is still read.

use std::sync::Arc;

use domain::{
    Absent, AgentId, CallId, Channel, ConnectionId, ContextAccess, Digest, Effect, Epoch, PageRequest,
    Reason, ReasonCode, Risk, Snapshot, SnapshotParts, SnapshotTool, Tenant, ToolRef, Verdict,
};
use store::{AuditFilter, StoreError};
use uuid::Uuid;

use crate::harness::{Bench, both};

both!(
    snapshots_round_trip,
    version_1_is_read,
    unknown_versions_are_refused
);

fn snapshot(tenant: Tenant) -> Snapshot {
    let connection = ConnectionId::from_uuid(Uuid::from_u128(1));
    let upstream = |name: &str| ToolRef::Upstream {
        connection,
        name: name.into(),
    };
    Snapshot::seal(SnapshotParts {
        tenant,
        agent: AgentId::from_uuid(Uuid::from_u128(2)),
        channel: Channel::Mcp,
        epoch: Epoch(7),
        tools: vec![SnapshotTool {
            exposed: "mail__send".into(),
            tool: upstream("send"),
            definition: Digest::of(b"send"),
            risk: Risk::High,
            effect: Effect::Mutating,
            parallel: false,
            verdict: Verdict::Ask,
            reason: Reason::new(ReasonCode::HighRisk),
            residual: vec!["rule-1".into()],
        }],
        absent: vec![Absent {
            exposed: "web_search".into(),
            tool: ToolRef::Capability("web.search".into()),
            reason: Reason::by_rule(ReasonCode::RuleForbids, "rule-2"),
        }],
        contexts: vec![ContextAccess {
            connection,
            prompts: true,
            resources: false,
            skills: false,
            offered: domain::ContextSelection::All,
        }],
    })
}

/// What release 1 wrote for the snapshot above.
const SNAPSHOT_1: &str = r#"{"v":1,"agent":"00000000-0000-0000-0000-000000000002","channel":"mcp","epoch":7,
"tools":[{"exposed":"mail__send","connection":"00000000-0000-0000-0000-000000000001","name":"send",
"definition":"c0b4fbd62b38dde71c25b2d0a39eac59cd5bc0b09cb19afef2e5f62f7fdd4ba6","risk":"high","effect":"mutating","parallel":false,
"verdict":"ask","reason":"high_risk","rule":null,"residual":["rule-1"]}],
"absent":[{"exposed":"web_search","connection":null,"name":"web.search","reason":"rule_forbids","rule":"rule-2"}],
"contexts":[{"connection":"00000000-0000-0000-0000-000000000001","prompts":true,"resources":false}]}"#;

/// What release 1 wrote for a decision.
const ENTRY_1: &str = r#"{"v":1,"call":"00000000-0000-0000-0000-000000000003","at":5,"actor":{"kind":"system","id":"","agent":null},
"fact":{"kind":"changed","action":"agents.create","change":"created","object":"agent:x"}}"#;

async fn snapshots_round_trip(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let made = snapshot(tenant);
    store.put_snapshot(&made).await.unwrap();
    store.put_snapshot(&made).await.unwrap();
    let got = store.snapshot(tenant, made.digest).await.unwrap().unwrap();
    assert_eq!(format!("{got:?}"), format!("{made:?}"));
    assert!(
        store
            .snapshot(tenant, Digest::of(b"other"))
            .await
            .unwrap()
            .is_none()
    );
    let other = store.create_organization("other").await.unwrap();
    assert!(store.snapshot(other, made.digest).await.unwrap().is_none());
    bench
        .tamper("UPDATE snapshots SET document = REPLACE(document, 'mutating', 'read_only')")
        .await;
    let error = store.snapshot(tenant, made.digest).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Corrupt { what: "snapshot", .. }),
        "{error:?}"
    );
    store.close().await;
}

async fn version_1_is_read(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let made = snapshot(tenant);
    store.put_snapshot(&made).await.unwrap();
    let text = SNAPSHOT_1.replace(
        "c0b4fbd62b38dde71c25b2d0a39eac59cd5bc0b09cb19afef2e5f62f7fdd4ba6",
        &Digest::of(b"send").to_string(),
    );
    bench
        .tamper(&format!("UPDATE snapshots SET document = '{text}'"))
        .await;
    let got = store.snapshot(tenant, made.digest).await.unwrap().unwrap();
    assert_eq!(
        (got.tools, got.absent, got.contexts, got.epoch),
        (made.tools, made.absent, made.contexts, made.epoch)
    );

    store
        .create_agent(tenant, &crate::harness::change(), crate::harness::agent("one"))
        .await
        .unwrap();
    bench
        .tamper(&format!("UPDATE journal SET body = '{ENTRY_1}'"))
        .await;
    let got = store
        .list_audit(tenant, &AuditFilter::default(), &PageRequest::first())
        .await
        .unwrap()
        .items;
    assert_eq!(got[0].entry.call, CallId::from_uuid(Uuid::from_u128(3)));
    // What is shown of a fact is what was written.
    let fact = serde_json::json!({
        "kind": "changed", "action": "agents.create", "change": "created", "object": "agent:x"
    });
    assert_eq!(got[0].written, fact);
    store.close().await;
}

async fn unknown_versions_are_refused(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let made = snapshot(tenant);
    store.put_snapshot(&made).await.unwrap();
    bench
        .tamper("UPDATE snapshots SET document = REPLACE(document, '\"v\":1', '\"v\":9')")
        .await;
    let error = store.snapshot(tenant, made.digest).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Corrupt { why, .. } if why.contains("version 9")),
        "{error:?}"
    );
    store.close().await;
}
