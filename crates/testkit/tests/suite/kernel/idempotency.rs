//! Requests that may be repeated without happening twice.

use std::time::Duration;

use domain::{KeyKind, Principal, Surface};
use futures::future::join_all;
use gateway::{Failure, FailureKind, Operation, Reply};
use serde_json::{Value, json};

use super::both;
use super::house::{Bench, House, key};

both!(
    a_repeated_request_is_answered_from_the_first,
    a_key_is_for_one_request_of_one_principal,
    requests_that_come_together_happen_once,
    a_key_is_kept_for_a_day,
);

async fn create(
    house: &House,
    (principal, idempotency_key): (Principal, &str),
    input: Value,
) -> Result<Reply, Failure> {
    let operation = Operation {
        principal,
        surface: Surface::Api,
        id: "agents.create".to_owned(),
        input,
        idempotency_key: Some(idempotency_key.to_owned()),
    };
    house.gateway.operate(operation).await
}

async fn agents(house: &House) -> usize {
    house.admin("agents.list", json!({})).await["items"]
        .as_array()
        .unwrap()
        .len()
}

async fn a_repeated_request_is_answered_from_the_first(bench: Bench) {
    let house = House::with(bench, &[]).await;
    let input = json!({ "handle": "second", "description": "d" });
    let first = create(&house, (house.admin, "k1"), input.clone()).await.unwrap();
    assert_eq!((first.status, first.replayed), (201, false));
    // The same members in another order are the same request.
    let again = create(
        &house,
        (house.admin, "k1"),
        json!({ "description": "d", "handle": "second" }),
    )
    .await
    .unwrap();
    assert_eq!(
        (again.status, &again.body, again.replayed),
        (201, &first.body, true)
    );
    assert_eq!(agents(&house).await, 2);
    // What failed may be tried again under the same key.
    let taken = create(&house, (house.admin, "k2"), input.clone())
        .await
        .unwrap_err();
    assert_eq!(
        (taken.kind, taken.code),
        (FailureKind::Conflict, "resource.name_taken")
    );
    house.admin("agents.remove", json!({ "agent": "second" })).await;
    assert!(!create(&house, (house.admin, "k2"), input).await.unwrap().replayed);
    house.verify().await;
}

async fn a_key_is_for_one_request_of_one_principal(bench: Bench) {
    let house = House::with(bench, &[]).await;
    create(&house, (house.admin, "k"), json!({ "handle": "second" }))
        .await
        .unwrap();
    let other = create(&house, (house.admin, "k"), json!({ "handle": "third" }))
        .await
        .unwrap_err();
    assert_eq!(
        (other.kind, other.code),
        (FailureKind::Conflict, "idempotency.conflict")
    );
    // Another administrator's keys are his own; so are another organization's.
    let colleague = key(house.tenant, KeyKind::Admin);
    assert!(
        !create(&house, (colleague, "k"), json!({ "handle": "third" }))
            .await
            .unwrap()
            .replayed
    );
    assert!(
        !create(&house, (house.stranger, "k"), json!({ "handle": "second" }))
            .await
            .unwrap()
            .replayed
    );
    // One that may not do it gains nothing from a key, and takes none away.
    let refused = create(&house, (house.caller, "k"), json!({ "handle": "fourth" }))
        .await
        .unwrap_err();
    assert_eq!(refused.kind, FailureKind::Forbidden);
    for bad in [String::new(), "é".to_owned(), "k".repeat(256), "a\nb".to_owned()] {
        let refused = create(&house, (house.admin, &bad), json!({ "handle": "fifth" }))
            .await
            .unwrap_err();
        assert_eq!(refused.code, "idempotency.bad_key", "{bad:?}");
    }
    assert_eq!(agents(&house).await, 3);
    house.verify().await;
}

async fn requests_that_come_together_happen_once(bench: Bench) {
    let house = House::with(bench, &[]).await;
    let all =
        join_all((0..16).map(|_| create(&house, (house.admin, "k"), json!({ "handle": "second" })))).await;
    let fresh = all
        .iter()
        .filter(|answer| answer.as_ref().is_ok_and(|reply| !reply.replayed))
        .count();
    assert_eq!(fresh, 1);
    for answer in &all {
        match answer {
            Ok(reply) => assert_eq!(reply.body.as_ref().unwrap()["handle"], "second"),
            Err(failure) => assert_eq!(failure.code, "idempotency.in_progress"),
        }
    }
    assert_eq!(agents(&house).await, 2);
    house.verify().await;
}

async fn a_key_is_kept_for_a_day(bench: Bench) {
    let house = House::with(bench, &[]).await;
    create(&house, (house.admin, "k"), json!({ "handle": "second" }))
        .await
        .unwrap();
    house
        .clock
        .advance(Duration::from_secs(24 * 3600) - Duration::from_micros(1));
    assert!(
        create(&house, (house.admin, "k"), json!({ "handle": "second" }))
            .await
            .unwrap()
            .replayed
    );
    house.clock.advance(Duration::from_micros(1));
    assert!(
        !create(&house, (house.admin, "k"), json!({ "handle": "third" }))
            .await
            .unwrap()
            .replayed
    );
    house.verify().await;
}
