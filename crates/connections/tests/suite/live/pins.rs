//! Definitions over time: pinned, changed, gone and back, and what is wrong with the rest.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use connections::{ConnectionError, ConnectionEventKind, Limits, ToolCounts};
use domain::{ConnectionState, DefinitionState, Health};
use serde_json::{Value, json};
use store::Change;
use testkit::scripted::{Reply, Scripted, Step};
use tokio_util::sync::CancellationToken;

use super::house::{House, Plan, Wanted};

type Tools = Arc<Mutex<Value>>;

/// A server whose tools a test can change, and which says so when told to.
async fn server(tools: &Tools, changed: CancellationToken) -> Scripted {
    let tools = tools.clone();
    Scripted::start(move |request| match request.rpc_method().as_deref() {
        Some("tools/list") => Reply::result(request, json!({ "tools": *tools.lock().unwrap() })),
        None if request.method == "GET" => Reply::status(200)
            .header("content-type", "text/event-stream")
            .then(Step::keep_alive())
            .then(Step::Until(changed.clone()))
            .then(Step::event(
                &json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }),
            ))
            .then(Step::Hang),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap()
}

fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

async fn set_up(tools: Value) -> (House, Scripted, Tools, domain::ConnectionId, CancellationToken) {
    let tools: Tools = Arc::new(Mutex::new(tools));
    let changed = CancellationToken::new();
    let server = server(&tools, changed.clone()).await;
    let limits = Limits {
        settle: Duration::from_millis(10),
        ..Limits::default()
    };
    let house = House::build(Plan {
        urls: vec![server.url().to_owned()],
        limits,
        ..Plan::default()
    })
    .await;
    let id = house.add(Wanted::url(server.url())).await;
    (house, server, tools, id, changed)
}

#[tokio::test]
async fn a_definition_is_pinned_quarantined_accepted_and_comes_back() {
    let (house, _server, tools, id, _) = set_up(json!([tool("a", "one"), tool("b", "one")])).await;
    let prepare = || house.connections.prepare(house.tenant, id);
    let first = prepare().await.unwrap();
    assert_eq!(
        first.tools,
        ToolCounts {
            listed: 2,
            added: 2,
            ..ToolCounts::default()
        }
    );
    assert_eq!(first.catalogue, 1);
    let pinned = house.pin(id, "a").await;
    assert_eq!(
        (pinned.state, pinned.classification),
        (DefinitionState::Pinned, None)
    );

    // Nothing new: nothing written.
    let again = prepare().await.unwrap();
    assert_eq!((again.tools.added, again.catalogue), (0, 1));

    // Changed: quarantined; what was accepted stays.
    *tools.lock().unwrap() = json!([tool("a", "two"), tool("b", "one")]);
    assert_eq!(prepare().await.unwrap().tools.changed, 1);
    let changed = house.pin(id, "a").await;
    assert_eq!(changed.state, DefinitionState::Quarantined);
    assert_eq!(
        changed.accepted.as_ref().map(|d| d.digest),
        pinned.accepted.as_ref().map(|d| d.digest)
    );
    let seen = changed.seen.unwrap();
    assert_ne!(seen.digest, pinned.accepted.as_ref().unwrap().digest);

    // Back to what was accepted: usable again, by nobody's leave.
    *tools.lock().unwrap() = json!([tool("a", "one")]);
    let back = prepare().await.unwrap();
    assert_eq!((back.tools.changed, back.tools.gone), (0, 1));
    assert_eq!(house.pin(id, "a").await.state, DefinitionState::Pinned);
    assert_eq!(house.pin(id, "b").await.state, DefinitionState::Gone);
    // Returned as another: not usable.
    *tools.lock().unwrap() = json!([tool("a", "two"), tool("b", "two")]);
    prepare().await.unwrap();
    assert_eq!(house.pin(id, "b").await.state, DefinitionState::Quarantined);

    // Only what was looked at can be accepted.
    let change = Change::by_system("test");
    let accept = |tool: &'static str, digest| {
        house
            .connections
            .accept((house.tenant, &change), id, tool, digest)
    };
    let stale = pinned.accepted.unwrap().digest;
    assert!(matches!(
        accept("a", stale).await,
        Err(ConnectionError::DefinitionMoved)
    ));
    assert!(matches!(
        accept("z", stale).await,
        Err(ConnectionError::UnknownTool)
    ));
    assert_eq!(
        accept("a", seen.digest).await.unwrap().state,
        DefinitionState::Pinned
    );
    assert_eq!(house.pin(id, "a").await.accepted.unwrap().digest, seen.digest);
    prepare().await.unwrap();
    assert_eq!(house.pin(id, "a").await.state, DefinitionState::Pinned);
}

#[tokio::test]
async fn what_is_malformed_costs_only_itself() {
    let (house, _server, _tools, id, _) = set_up(json!([
        tool("good", "one"),
        { "name": "no-schema", "inputSchema": null },
        { "description": "nameless", "inputSchema": {} },
        7,
        { "name": "hinted", "inputSchema": {}, "annotations": { "readOnlyHint": "yes" } },
        { "name": "broken", "inputSchema": { "type": "object", "properties": { "a": { "pattern": "(" } } } },
        { "name": "outside", "inputSchema": { "$ref": "https://example.com/schema.json" } },
    ]))
    .await;
    let prepared = house.connections.prepare(house.tenant, id).await.unwrap();
    assert_eq!(
        (prepared.state, prepared.health),
        (ConnectionState::Ready, Health::Degraded)
    );
    assert_eq!(
        prepared.tools,
        ToolCounts {
            listed: 4,
            added: 4,
            unusable: 2,
            ..ToolCounts::default()
        }
    );
    assert_eq!(prepared.problems.len(), 4, "{:?}", prepared.problems);
    for (name, word) in [
        ("broken", "/properties/a/pattern"),
        ("outside", "https://example.com/schema.json"),
    ] {
        let pin = house.pin(id, name).await;
        assert_eq!(pin.state, DefinitionState::Unusable);
        assert!(
            pin.unusable.as_ref().unwrap().contains(word),
            "{:?}",
            pin.unusable
        );
    }
    let stored = house.store.catalogue(house.tenant, id).await.unwrap().unwrap();
    assert_eq!((stored.tools.len(), stored.problems.len()), (4, 4));
    // The bytes are the server's.
    assert_eq!(stored.tools[0].get(), tool("good", "one").to_string());
}

#[tokio::test]
async fn news_of_a_changed_list_is_acted_on() {
    let (mut house, _server, tools, id, changed) = set_up(json!([tool("a", "one")])).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    house
        .hear(id, |kind| {
            matches!(kind, ConnectionEventKind::CatalogueChanged { .. })
        })
        .await;
    *tools.lock().unwrap() = json!([tool("a", "one"), tool("b", "one")]);
    changed.cancel();
    let kind = house
        .hear(id, |kind| {
            matches!(kind, ConnectionEventKind::CatalogueChanged { .. })
        })
        .await;
    assert_eq!(
        kind,
        ConnectionEventKind::CatalogueChanged {
            tools: true,
            prompts: false,
            resources: false
        }
    );
    assert_eq!(house.pin(id, "b").await.state, DefinitionState::Pinned);
}

#[tokio::test]
async fn one_preparation_at_a_time_and_one_answer_for_all() {
    let (house, server, _tools, id, _) = set_up(json!([tool("a", "one")])).await;
    let all = futures::future::join_all((0..20).map(|_| house.connections.prepare(house.tenant, id))).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(server.received_of("tools/list").len(), 1);
    assert_eq!(server.received_of("initialize").len(), 1);
}

#[tokio::test]
async fn a_failed_preparation_is_tried_again_in_the_background() {
    let refuse = Arc::new(std::sync::atomic::AtomicUsize::new(2));
    let left = refuse.clone();
    let server = Scripted::start(move |request| {
        let refused = request.rpc_method().as_deref() == Some("tools/list")
            && left
                .fetch_update(
                    std::sync::atomic::Ordering::SeqCst,
                    std::sync::atomic::Ordering::SeqCst,
                    |n| n.checked_sub(1),
                )
                .is_ok();
        if refused {
            Reply::status(503)
        } else {
            Reply::legacy(request)
        }
    })
    .await
    .unwrap();
    let limits = Limits {
        backoff: Duration::from_millis(10),
        ..Limits::default()
    };
    let mut house = House::build(Plan {
        urls: vec![server.url().to_owned()],
        limits,
        ..Plan::default()
    })
    .await;
    let id = house.add(Wanted::url(server.url())).await;
    house.connections.schedule(house.tenant, id);
    house.connections.schedule(house.tenant, id);
    let ready = ConnectionEventKind::StateChanged {
        state: ConnectionState::Ready,
        health: Health::Ok,
    };
    house.hear(id, |kind| *kind == ready).await;
    assert_eq!(server.received_of("tools/list").len(), 3);
    assert_eq!(house.pin(id, "echo").await.state, DefinitionState::Pinned);
}

#[tokio::test]
async fn another_tenants_connection_does_not_exist() {
    let (house, server, _tools, id, _) = set_up(json!([])).await;
    let other = house.store.create_organization("other").await.unwrap();
    assert!(matches!(
        house.connections.prepare(other, id).await,
        Err(ConnectionError::NotFound)
    ));
    house.connections.prepare(house.tenant, id).await.unwrap();
    assert!(matches!(
        house.connections.test(other, id).await,
        Err(ConnectionError::NotFound)
    ));
    assert!(!server.received().is_empty());
    house.connections.remove(id).await;
    assert_eq!(house.connections.live(id).sessions, 0);
}
