//! The chain: made afterwards, whole when nobody touched it, and telling where somebody did.

use std::sync::Arc;

use domain::{Effect, PageRequest, Tenant};
use store::{AuditFilter, Head, Options, Store, Verification};

use crate::harness::{Bench, both, decided};

both!(
    a_whole_chain_verifies,
    tampering_is_found,
    a_cut_record_is_found,
    the_store_chains_by_itself,
    one_holder_chains
);

async fn fill(store: &Store, tenant: Tenant, entries: usize) {
    let waiting: Vec<_> = (0..entries)
        .map(|_| {
            store
                .record(tenant, decided("read", "allow", Effect::ReadOnly))
                .unwrap()
        })
        .collect();
    for recorded in waiting {
        recorded.written().await.unwrap();
    }
}

async fn verify(store: &Store, tenant: Tenant) -> Verification {
    store.verify(tenant, None, |_| {}).await.unwrap()
}

async fn a_whole_chain_verifies(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    fill(&store, tenant, 700).await;
    assert_eq!(store.chain_once().await.unwrap(), 700);
    assert_eq!(store.chain_once().await.unwrap(), 0);
    fill(&store, tenant, 3).await;
    let mut told = Vec::new();
    let found = store
        .verify(tenant, None, |progress| told.push(progress))
        .await
        .unwrap();
    assert_eq!(
        (found.entries, found.links, found.unchained_tail, &found.first_bad),
        (703, 700, 3, &None)
    );
    let last = told.last().unwrap();
    assert_eq!((last.done, last.total), (703, 703));
    assert!(told.len() > 1, "progress is told on the way");
    let noted = store.verify(tenant, found.head, |_| {}).await.unwrap();
    assert_eq!(noted, found);
    let item = &store
        .list_audit(
            tenant,
            &AuditFilter::default(),
            &PageRequest {
                cursor: None,
                limit: 4,
            },
        )
        .await
        .unwrap()
        .items;
    assert_eq!(
        item.iter().map(|item| item.link.is_some()).collect::<Vec<_>>(),
        [false, false, false, true]
    );
    store.close().await;
}

/// Each case: what somebody does to the database, and where and how it shows.
async fn tampering_is_found(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    fill(&store, tenant, 10).await;
    store.chain_once().await.unwrap();
    assert_eq!(verify(&store, tenant).await.first_bad, None);
    let columns = "organization_id, workspace_id, seq, call_id, kind, at, agent_id, connection_id, exposed, tool, actor, word, body";
    let insert = format!(
        "UPDATE journal SET seq = seq + 1000 WHERE seq > 5;
         INSERT INTO journal ({columns}) SELECT organization_id, workspace_id, 6, call_id, kind, at, agent_id, connection_id, exposed,
         tool, actor, word, body FROM journal WHERE seq = 5;
         UPDATE links SET seq = seq + 1000 WHERE seq > 5;"
    );
    let cases = [
        (
            "UPDATE journal SET body = REPLACE(body, 'allow', 'deny') WHERE seq = 5",
            5,
            "changed",
        ),
        ("UPDATE journal SET word = 'deny' WHERE seq = 5", 5, "columns"),
        ("UPDATE journal SET at = at + 1 WHERE seq = 5", 5, "columns"),
        ("UPDATE journal SET agent_id = NULL WHERE seq = 5", 5, "columns"),
        (
            "UPDATE journal SET approval_id = organization_id WHERE seq = 5",
            5,
            "columns",
        ),
        ("DELETE FROM journal WHERE seq = 5", 5, "removed"),
        (
            "DELETE FROM journal WHERE seq = 5; DELETE FROM links WHERE seq = 5",
            6,
            "removed or moved",
        ),
        ("DELETE FROM links WHERE seq = 5", 5, "inserted"),
        (insert.as_str(), 6, "inserted"),
        (
            "UPDATE journal SET seq = 1000 WHERE seq = 5; UPDATE journal SET seq = 5 WHERE seq = 6;
             UPDATE journal SET seq = 6 WHERE seq = 1000",
            5,
            "changed or moved",
        ),
        (
            "UPDATE links SET link_hash = entry_hash WHERE seq = 5",
            5,
            "link was changed",
        ),
        (
            "UPDATE links SET prev_hash = entry_hash WHERE seq = 5",
            5,
            "does not follow",
        ),
        (
            "DELETE FROM journal WHERE seq = 1; DELETE FROM links WHERE seq = 1",
            2,
            "removed or moved",
        ),
    ];
    let keep = [
        "CREATE TABLE j2 AS SELECT * FROM journal",
        "CREATE TABLE l2 AS SELECT * FROM links",
    ];
    for sql in keep {
        bench.tamper(sql).await;
    }
    for (sql, seq, what) in cases {
        bench.tamper(sql).await;
        let found = verify(&store, tenant).await;
        let bad = found.first_bad.unwrap_or_else(|| panic!("not found: {sql}"));
        assert!(bad.seq == seq && bad.what.contains(what), "{sql}: {bad:?}");
        let restore = format!(
            "DELETE FROM journal; DELETE FROM links; INSERT INTO journal ({columns}) SELECT {columns} FROM j2;
             INSERT INTO links SELECT * FROM l2"
        );
        bench.tamper(&restore).await;
        assert_eq!(verify(&store, tenant).await.first_bad, None);
    }
    store.close().await;
}

async fn a_cut_record_is_found(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    fill(&store, tenant, 10).await;
    store.chain_once().await.unwrap();
    let noted: Head = verify(&store, tenant).await.head.unwrap();
    bench
        .tamper("DELETE FROM journal WHERE seq > 7; DELETE FROM links WHERE seq > 7")
        .await;
    // By itself a shorter record looks whole; whoever noted a head sees it.
    assert_eq!(verify(&store, tenant).await.first_bad, None);
    let found = store.verify(tenant, Some(noted), |_| {}).await.unwrap();
    let bad = found.first_bad.unwrap();
    assert!(bad.seq == noted.seq && bad.what.contains("cut off"), "{bad:?}");
    store.close().await;
}

fn chaining(bench: &Bench) -> Options {
    let mut options = bench.options();
    options.journal.chain_within = std::time::Duration::from_millis(10);
    options
}

async fn the_store_chains_by_itself(bench: Arc<Bench>) {
    let store = Store::open(chaining(&bench)).await.unwrap();
    let tenant = store.bootstrap().await.unwrap().tenant;
    fill(&store, tenant, 5).await;
    while verify(&store, tenant).await.links < 5 {
        tokio::task::yield_now().await;
    }
    store.close().await;
}

/// Who does not hold the lease makes no link, and does not break the chain.
async fn one_holder_chains(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mut options = bench.options();
    options.role = store::Role::Beside;
    let beside = Store::open(options).await.unwrap();
    fill(&store, tenant, 5).await;
    assert_eq!(store.chain_once().await.unwrap(), 5);
    fill(&store, tenant, 5).await;
    assert_eq!(beside.chain_once().await.unwrap(), 0);
    bench.tamper("UPDATE leases SET expires_at = 0").await;
    assert_eq!(beside.chain_once().await.unwrap(), 5);
    let found = verify(&store, tenant).await;
    assert_eq!((found.links, found.first_bad), (10, None));
    beside.close().await;
    store.close().await;
}
