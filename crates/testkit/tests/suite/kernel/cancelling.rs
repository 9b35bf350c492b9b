//! A caller that leaves: what only reads ends with it, what may change something goes on to its end and is recorded.

use std::time::Duration;

use domain::{CallStatus, Effect, Outcome, OutcomeCode, Surface};
use gateway::{Operation, Rejections};
use serde_json::json;
use testkit::scripted::{Reply, Scripted};
use tokio_util::sync::CancellationToken;

use super::both;
use super::house::{Bench, Decided, House, Plan, request};
use super::upstream::{Upstream, held_echo, tool};

both!(
    a_reading_that_is_dropped_is_cancelled,
    a_wave_that_is_dropped_is_cancelled_whole,
    an_act_that_is_dropped_finishes,
    an_operation_that_is_dropped_finishes,
);

// V176
async fn a_reading_that_is_dropped_is_cancelled(bench: Bench) {
    let upstream = Upstream::answering(vec![tool("look")], |_| Reply::hang()).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    let (gateway, view) = (house.gateway.clone(), house.view());
    let call = tokio::spawn(async move { gateway.call(&view, request("files__look", &json!({}))).await });
    upstream.wait_for_calls(1).await;
    let before = upstream.server.abandoned();
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    upstream.server.wait_for_abandoned(before + 1).await;
    let items = house.calls_of("files__look").await;
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].status, CallStatus::Failed);
    assert_eq!(ended(&items[0]), Outcome::failed(OutcomeCode::Cancelled));
    // The session lives on.
    let connection = house
        .gateway
        .workspace(house.tenant)
        .unwrap()
        .find_connection("files")
        .unwrap()
        .id;
    assert_eq!(house.gateway.connections().live(connection).sessions, 1);
    house.verify().await;
}

// V176
async fn a_wave_that_is_dropped_is_cancelled_whole(bench: Bench) {
    let upstream = Upstream::answering(vec![tool("look")], |_| Reply::hang()).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    let (gateway, view) = (house.gateway.clone(), house.view());
    let wave = tokio::spawn(async move {
        let requests = (0..12)
            .map(|n| request("files__look", &json!({ "n": n })))
            .collect();
        gateway
            .call_all(&view, requests, &mut Rejections::default())
            .await
            .len()
    });
    upstream.wait_for_calls(8).await;
    let before = upstream.server.abandoned();
    wave.abort();
    assert!(wave.await.unwrap_err().is_cancelled());
    upstream.server.wait_for_abandoned(before + 8).await;
    let items = house.calls_of("files__look").await;
    assert_eq!(items.len(), 8, "those of the next wave were never begun");
    assert!(
        items
            .iter()
            .all(|item| ended(item) == Outcome::failed(OutcomeCode::Cancelled))
    );
    assert_eq!(upstream.calls().len(), 8);
    house.verify().await;
}

async fn an_act_that_is_dropped_finishes(bench: Bench) {
    let go = CancellationToken::new();
    let held = go.clone();
    let upstream = Upstream::answering(vec![tool("move")], move |request| held_echo(request, &held)).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/move").await;
    let (gateway, view) = (house.gateway.clone(), house.view());
    let call = tokio::spawn(async move { gateway.call(&view, request("files__move", &json!({}))).await });
    upstream.wait_for_calls(1).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    let items = house.calls_of("files__move").await;
    assert_eq!(
        (items.len(), items[0].ended.is_none(), items[0].status),
        (1, true, CallStatus::Started)
    );
    assert_eq!(Decided::of(&items[0]).effect, Effect::Mutating);
    go.cancel();
    house.gateway.drain(Duration::from_secs(20)).await;
    let items = house.calls_of("files__move").await;
    assert_eq!((items.len(), ended(&items[0])), (1, Outcome::SUCCEEDED));
    assert_eq!(upstream.calls().len(), 1);
    house.verify().await;
}

// An administrator whose connection breaks off in the middle of a change.
async fn an_operation_that_is_dropped_finishes(bench: Bench) {
    let go = CancellationToken::new();
    let held = go.clone();
    let upstream = Scripted::start(move |request| match request.rpc_method().as_deref() {
        Some("tools/list") => Reply::legacy(request).after(held.clone()),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let plan = Plan {
        urls: vec![upstream.url().to_owned()],
        ..Plan::default()
    };
    let house = House::build(bench, plan).await;
    let input =
        json!({ "label": "slow", "url": upstream.url(), "transport": "streamable_http", "trusted": true });
    house.admin("connections.add", input).await;
    let operation = Operation {
        principal: house.admin,
        surface: Surface::Api,
        id: "connections.refresh".to_owned(),
        input: json!({ "connection": "slow" }),
        idempotency_key: None,
    };
    let gateway = house.gateway.clone();
    let refresh = tokio::spawn(async move { gateway.operate(operation).await });
    // Its intent is stored: it has begun.
    let begun = async || house.calls_of("connections.refresh").await;
    while begun().await.is_empty() {
        tokio::task::yield_now().await;
    }
    refresh.abort();
    assert!(refresh.await.unwrap_err().is_cancelled());
    go.cancel();
    house.gateway.drain(Duration::from_secs(20)).await;
    let items = begun().await;
    assert_eq!((items.len(), ended(&items[0])), (1, Outcome::SUCCEEDED));
    let shown = house
        .admin("connections.show", json!({ "connection": "slow" }))
        .await;
    assert_eq!(shown["preparation_status"], "ready");
    house.verify().await;
}

fn ended(item: &store::ActivityItem) -> Outcome {
    match item.ended.as_ref().map(|entry| &entry.fact) {
        Some(domain::Fact::Ended { outcome, .. }) => *outcome,
        other => panic!("not ended: {other:?}"),
    }
}
