//! A process that stops in the middle, a policy that does not stand still, an answer that cannot be kept: what is known is said.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::{CallStatus, Digest, Effect, OutcomeCode, Risk, Status, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use gateway::{FailureKind, Operation};
use serde_json::{Value, json};
use store::{Change, Idempotency, IdempotentRequest};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::both;
use super::house::{Bench, Decided, House, Plan, denied, request};
use super::upstream::{Upstream, echo, held_echo, tool};

both!(
    an_act_dropped_at_shutdown_is_recorded_as_unknown,
    a_policy_that_keeps_changing_denies,
    an_answer_that_cannot_be_kept_stands,
);

// DESIGN 4
async fn an_act_dropped_at_shutdown_is_recorded_as_unknown(bench: Bench) {
    let never = CancellationToken::new();
    let upstream = Upstream::answering(vec![tool("move"), tool("look")], move |request| {
        match request.json()["params"]["name"].as_str() {
            Some("move") => held_echo(request, &never),
            _ => echo(request),
        }
    })
    .await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/move").await;
    house.reading("files/look").await;
    let (gateway, view) = (house.gateway.clone(), house.view());
    gateway.call(&view, request("files__look", &json!({}))).await;
    // Calls run where they came from, and that ends while one is under way.
    let process = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let call = process.spawn(async move { gateway.call(&view, request("files__move", &json!({}))).await });
    upstream.wait_for_calls(2).await;
    house.gateway.drain(Duration::from_millis(1)).await;
    tokio::task::spawn_blocking(move || process.shutdown_timeout(Duration::from_secs(20)))
        .await
        .unwrap();
    assert!(call.await.unwrap_err().is_cancelled());
    let items = house.calls_of("files__move").await;
    assert_eq!(
        (items.len(), items[0].status, items[0].code),
        (1, CallStatus::Unknown, Some(OutcomeCode::Unknown))
    );
    assert!(items[0].ended.is_some(), "it is recorded, not merely missing");
    assert_eq!(upstream.calls().len(), 2);
    house.verify().await;
}

/// People who change the policy without a pause until told to stop.
fn busy(house: &House) -> (Arc<AtomicBool>, Vec<JoinHandle<()>>) {
    let stop = Arc::new(AtomicBool::new(false));
    let one = |_| {
        let (store, tenant, stop) = (house.store.clone(), house.tenant, stop.clone());
        tokio::spawn(async move {
            while !stop.load(Ordering::SeqCst) {
                store
                    .raise_epoch(tenant, &Change::by_system("test"))
                    .await
                    .unwrap();
            }
        })
    };
    let tasks = (0..4).map(one).collect();
    (stop, tasks)
}

async fn a_policy_that_keeps_changing_denies(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("move")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/move").await;
    let (stop, tasks) = busy(&house);
    // One may slip through between two changes; then it was decided under the policy that held.
    let (mut through, mut stale) = (0, None);
    while stale.is_none() && through < 200 {
        let reply = house
            .gateway
            .call(&house.view(), request("files__move", &json!({})))
            .await;
        if reply.outcome.status == Status::Succeeded {
            through += 1;
        } else {
            assert_eq!(denied(&reply), "policy_stale");
            stale = Some(reply.call);
        }
    }
    let (mut made, mut refused) = (0, None);
    while refused.is_none() && made < 200 {
        match house
            .ask("agents.create", json!({ "handle": format!("agent-{made}") }))
            .await
        {
            Ok(_) => made += 1,
            Err(failure) => refused = Some(failure),
        }
    }
    stop.store(true, Ordering::SeqCst);
    for task in tasks {
        task.await.unwrap();
    }
    let refused = refused.unwrap();
    assert_eq!(
        (refused.kind, refused.code),
        (FailureKind::Unavailable, "policy.changing")
    );
    assert_eq!(upstream.calls().len(), through);
    let stale = house.item(stale.unwrap()).await;
    let operations = house.calls_of("agents.create").await;
    assert_eq!(operations.len(), made + 1);
    for item in [&stale, operations.last().unwrap()] {
        let decided = Decided::of(item);
        assert_eq!(
            (&*decided.decision, decided.reason.code.as_str()),
            ("deny", "policy_stale")
        );
        assert_eq!(item.status, CallStatus::Denied);
    }
    house.verify().await;
}

/// Answers, and leaves nothing behind that could keep the answer.
async fn pulls_the_plug(context: Context, _input: Value) -> Result<Value, Failure> {
    context.store().clone().close().await;
    Ok(json!({ "done": true }))
}

async fn an_answer_that_cannot_be_kept_stands(bench: Bench) {
    let declaration = Declaration {
        id: "plug.pull",
        title: "Pull the plug",
        description: "Closes the database.",
        method: Method::Post,
        path: "/plug/pull",
        success: 200,
        paged: false,
        idempotent: true,
        risk: Risk::Low,
        effect: Effect::ReadOnly,
        surfaces: &[Surface::Api],
        action: Action::Administer,
        command: None,
    };
    let plan = Plan {
        more: vec![Capability::new(declaration, pulls_the_plug)],
        ..Plan::default()
    };
    let house = House::build(bench, plan).await;
    let operation = Operation {
        principal: house.admin,
        surface: Surface::Api,
        id: declaration.id.to_owned(),
        input: json!({}),
        idempotency_key: Some("k".to_owned()),
    };
    let reply = house.gateway.operate(operation).await.unwrap();
    assert_eq!(
        (reply.body, reply.replayed),
        (Some(json!({ "done": true })), false)
    );
    // A repeat is not done a second time by mistake: it waits until the claim lapses.
    let (bench, tenant) = (house.bench, house.tenant);
    let store = bench.open().await;
    let same = IdempotentRequest {
        principal: format!("{}:{}", house.admin.kind(), house.admin.id_text()),
        key: "k".to_owned(),
        operation: declaration.id.to_owned(),
        body: Digest::of_json(&json!({})),
    };
    assert_eq!(
        store.idempotent(tenant, &same).await.unwrap(),
        Idempotency::InProgress
    );
    bench.clock.advance(Duration::from_secs(5 * 60));
    assert_eq!(store.idempotent(tenant, &same).await.unwrap(), Idempotency::Fresh);
    store.close().await;
}
