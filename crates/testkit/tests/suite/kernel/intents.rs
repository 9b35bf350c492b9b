//! The record comes first: an act's intent before the act, a reading's row before its result, and nothing without them.

use std::sync::{Arc, Mutex, OnceLock};

use domain::{CallStatus, PageRequest, Status, Tenant};
use futures::future::join_all;
use serde_json::{Value, json};
use store::{ActivityFilter, ActivityItem, Change, Store};
use tokio_util::sync::CancellationToken;

use super::both;
use super::house::{Bench, Decided, House, code, denied, request};
use super::upstream::{Upstream, echo, held_echo, tool};

both!(
    an_intent_is_stored_before_its_act_is_sent,
    the_row_of_a_reading_is_there_before_its_result_leaves,
    an_epoch_that_moved_is_decided_again,
    without_a_record_nothing_is_sent,
    an_act_cut_off_is_unknown_and_not_repeated,
);

fn look(store: &Store, tenant: Tenant) -> Vec<ActivityItem> {
    let filter = ActivityFilter {
        tool: Some("files__move".into()),
        ..ActivityFilter::default()
    };
    let read = async {
        store
            .list_activity(
                tenant,
                &filter,
                &PageRequest {
                    limit: 100,
                    cursor: None,
                },
            )
            .await
    };
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(read))
        .unwrap()
        .items
}

// DESIGN 4, V063
async fn an_intent_is_stored_before_its_act_is_sent(bench: Bench) {
    // The upstream itself looks into the record whenever a call reaches it.
    let record: Arc<OnceLock<(Store, Tenant)>> = Arc::default();
    let seen: Arc<Mutex<Vec<(Value, usize)>>> = Arc::default();
    let (looking, noting) = (record.clone(), seen.clone());
    let upstream = Upstream::answering(vec![tool("move")], move |request| {
        let (store, tenant) = looking.get().unwrap();
        let open = look(store, *tenant)
            .iter()
            .filter(|item| item.ended.is_none() && item.status == CallStatus::Started)
            .count();
        noting
            .lock()
            .unwrap()
            .push((request.json()["params"]["arguments"].clone(), open));
        echo(request)
    })
    .await;
    let house = House::with(bench, &[&upstream]).await;
    record.set((house.store.clone(), house.tenant)).unwrap();
    house.connect("files", &upstream).await;
    house.changing("files/move").await;
    for n in 0..3 {
        let reply = house.call("files__move", json!({ "n": n })).await;
        assert_eq!(reply.outcome.status, Status::Succeeded);
        let item = house.item(reply.call).await;
        assert!(item.ended.is_some());
    }
    assert_eq!(
        *seen.lock().unwrap(),
        [
            (json!({ "n": 0 }), 1),
            (json!({ "n": 1 }), 1),
            (json!({ "n": 2 }), 1)
        ]
    );
    // Side by side they share commits, and each still has its own.
    let view = house.view();
    let replies = join_all((0..16).map(|n| {
        house
            .gateway
            .call(&view, request("files__move", &json!({ "m": n })))
    }))
    .await;
    assert!(
        replies
            .iter()
            .all(|reply| reply.outcome.status == Status::Succeeded)
    );
    assert!(seen.lock().unwrap().iter().all(|(_, open)| *open >= 1));
    assert_eq!(house.calls_of("files__move").await.len(), 19);
    house.verify().await;
}

async fn the_row_of_a_reading_is_there_before_its_result_leaves(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("look")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    let view = house.view();
    for n in 0..5 {
        let reply = house
            .gateway
            .call(&view, request("files__look", &json!({ "n": n })))
            .await;
        // Nothing is waited for in between.
        let item = house
            .store
            .activity(house.tenant, reply.call)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(&*Decided::of(&item).decision, "allow");
    }
    // A reading has no intent.
    assert_eq!(house.calls_of("files__look").await.len(), 5);
    house.verify().await;
}

async fn an_epoch_that_moved_is_decided_again(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("move"), tool("look")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/move").await;
    house.reading("files/look").await;
    let view = house.view();
    let before = view.snapshot().epoch;
    let moved = house
        .store
        .raise_epoch(house.tenant, &Change::by_system("test"))
        .await
        .unwrap();
    assert!(moved > before);
    let reply = house
        .gateway
        .call(&view, request("files__move", &json!({})))
        .await;
    assert_eq!(reply.outcome.status, Status::Succeeded);
    assert_eq!(Decided::of(&house.item(reply.call).await).epoch, moved);
    assert_eq!(upstream.calls().len(), 1, "decided again is not sent again");
    house.verify().await;
}

async fn without_a_record_nothing_is_sent(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("look"), tool("move"), tool("ask")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    house.changing("files/move").await;
    house.grant("files/ask", "allow").await;
    house.grant("current_time", "allow").await;
    // The snapshot is stored already; what is missing is the record itself.
    assert_eq!(
        house.call("files__look", json!({})).await.outcome.status,
        Status::Succeeded
    );
    let view = house.view();
    house.verify().await;
    house.store.clone().close().await;
    assert!(!house.gateway.healthy().await);
    for name in ["files__look", "files__move", "files__ask", "current_time"] {
        let reply = house.gateway.call(&view, request(name, &json!({}))).await;
        assert_eq!(
            (reply.outcome.status, code(&reply)),
            (Status::Failed, "record_unavailable"),
            "{name}"
        );
    }
    // A no needs no record to be a no.
    let reply = house
        .gateway
        .call(&view, request("files__none", &json!({})))
        .await;
    assert_eq!(denied(&reply), "unknown_tool");
    let asked = house
        .ask("agents.create", json!({ "handle": "second" }))
        .await
        .unwrap_err();
    assert_eq!(asked.kind, gateway::FailureKind::Unavailable, "{asked}");
    assert_eq!(upstream.calls().len(), 1);
}

async fn an_act_cut_off_is_unknown_and_not_repeated(bench: Bench) {
    let never = CancellationToken::new();
    let held = never.clone();
    let upstream = Upstream::answering(vec![tool("move")], move |request| held_echo(request, &held)).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/move").await;
    let (gateway, view) = (house.gateway.clone(), house.view());
    let call = tokio::spawn(async move { gateway.call(&view, request("files__move", &json!({}))).await });
    upstream.wait_for_calls(1).await;
    // The process ends here as far as the record is concerned.
    house.store.clone().close().await;
    let House { bench, tenant, .. } = house;
    bench.clock.advance(std::time::Duration::from_secs(1));
    let store = bench.open().await;
    let item = look(&store, tenant).remove(0);
    assert_eq!(
        (item.status, &*Decided::of(&item).decision),
        (CallStatus::Unknown, "allow")
    );
    assert_eq!(upstream.calls().len(), 1);
    store.chain_once().await.unwrap();
    assert_eq!(store.verify(tenant, None, |_| {}).await.unwrap().first_bad, None);
    call.abort();
}
