//! Requests that may be repeated: claimed once, answered the same, refused with another body.

use std::sync::Arc;
use std::time::Duration;

use domain::Digest;
use store::{Idempotency, IdempotentRequest};

use crate::harness::{Bench, both};

both!(answers_are_replayed, one_of_many_claims, claims_and_answers_lapse);

fn request(body: &str) -> IdempotentRequest {
    IdempotentRequest {
        principal: "somebody".to_owned(),
        key: "key-1".to_owned(),
        operation: "agents.create".to_owned(),
        body: Digest::of(body.as_bytes()),
    }
}

async fn answers_are_replayed(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let other = store.create_organization("other").await.unwrap();
    let ask = request("a");
    assert_eq!(store.idempotent(tenant, &ask).await.unwrap(), Idempotency::Fresh);
    assert_eq!(
        store.idempotent(tenant, &ask).await.unwrap(),
        Idempotency::InProgress
    );
    assert_eq!(
        store.idempotent(tenant, &request("b")).await.unwrap(),
        Idempotency::Conflict
    );
    store.abandon_idempotent(tenant, &ask).await.unwrap();
    assert_eq!(store.idempotent(tenant, &ask).await.unwrap(), Idempotency::Fresh);
    store.complete_idempotent(tenant, &ask, 201, b"{}").await.unwrap();
    let replay = Idempotency::Replay {
        status: 201,
        body: b"{}".to_vec(),
    };
    assert_eq!(store.idempotent(tenant, &ask).await.unwrap(), replay);
    // An answer is not given up, nor replaced.
    store.abandon_idempotent(tenant, &ask).await.unwrap();
    store.complete_idempotent(tenant, &ask, 500, b"").await.unwrap();
    assert_eq!(store.idempotent(tenant, &ask).await.unwrap(), replay);
    let operation = IdempotentRequest {
        operation: "keys.create".to_owned(),
        ..ask.clone()
    };
    assert_eq!(
        store.idempotent(tenant, &operation).await.unwrap(),
        Idempotency::Conflict
    );
    let somebody_else = IdempotentRequest {
        principal: "else".to_owned(),
        ..ask.clone()
    };
    assert_eq!(
        store.idempotent(tenant, &somebody_else).await.unwrap(),
        Idempotency::Fresh
    );
    assert_eq!(store.idempotent(other, &ask).await.unwrap(), Idempotency::Fresh);
    store.close().await;
}

async fn one_of_many_claims(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let store = store.clone();
        tasks.spawn(async move { store.idempotent(tenant, &request("a")).await.unwrap() });
    }
    let results = tasks.join_all().await;
    assert_eq!(
        results
            .iter()
            .filter(|result| **result == Idempotency::Fresh)
            .count(),
        1
    );
    assert_eq!(
        results
            .iter()
            .filter(|result| **result == Idempotency::InProgress)
            .count(),
        15
    );
    store.close().await;
}

async fn claims_and_answers_lapse(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    assert_eq!(
        store.idempotent(tenant, &request("a")).await.unwrap(),
        Idempotency::Fresh
    );
    bench.clock.advance(Duration::from_secs(5 * 60));
    assert_eq!(
        store.idempotent(tenant, &request("b")).await.unwrap(),
        Idempotency::Fresh
    );
    store
        .complete_idempotent(tenant, &request("b"), 200, b"b")
        .await
        .unwrap();
    bench.clock.advance(Duration::from_secs(24 * 60 * 60 - 1));
    assert_eq!(store.purge_idempotent().await.unwrap(), 0);
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(store.purge_idempotent().await.unwrap(), 1);
    assert_eq!(
        store.idempotent(tenant, &request("c")).await.unwrap(),
        Idempotency::Fresh
    );
    store.close().await;
}
