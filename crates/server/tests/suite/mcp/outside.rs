//! What upstreams say outside of calls, and what a client tells its own upstream sessions.

use domain::{ConnectionOwner, Sharing};
use http::Method;
use serde_json::{Value, json};
use testkit::house::House;
use testkit::scripted::{Received, Reply, Scripted, Step};
use tokio_util::sync::CancellationToken;

use super::peer::{Events, Peer};

/// A server that says these messages on its standing stream once it may.
async fn telling(messages: Vec<Value>, may: CancellationToken) -> Scripted {
    Scripted::start(move |request| {
        if request.method == Method::GET {
            let opened = Reply::events([])
                .then(Step::keep_alive())
                .then(Step::Until(may.clone()));
            let told = messages
                .iter()
                .fold(opened, |reply, message| reply.then(Step::event(message)));
            return told.then(Step::Hang);
        }
        match request.rpc_method().as_deref() {
            Some("tools/call") => Reply::result(request, json!({ "content": [] })),
            Some("logging/setLevel") => Reply::result(request, json!({})),
            _ => Reply::legacy(request),
        }
    })
    .await
    .unwrap()
}

/// Asks for the client's roots, says something, and says that a page was visited.
fn said() -> Vec<Value> {
    let note = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
    vec![
        json!({ "jsonrpc": "2.0", "id": 900, "method": "roots/list" }),
        note(
            "notifications/message",
            json!({ "level": "debug", "data": "too little" }),
        ),
        note(
            "notifications/message",
            json!({ "level": "error", "data": "burning" }),
        ),
        note(
            "notifications/elicitation/complete",
            json!({ "elicitationId": "e1" }),
        ),
    ]
}

struct World {
    upstream: Scripted,
    may: CancellationToken,
    house: House,
    url: String,
}

async fn world(sharing: Sharing) -> World {
    let may = CancellationToken::new();
    let upstream = telling(said(), may.clone()).await;
    let house = House::start(&[upstream.url()]).await;
    let owner = ConnectionOwner::Agent(house.agent);
    house.connect_with(owner, "own", upstream.url(), sharing).await;
    let url = format!("{}/mcp/default/own", house.url);
    World {
        upstream,
        may,
        house,
        url,
    }
}

/// What the server was answered.
async fn answered(upstream: &Scripted) -> Value {
    received(upstream, |request| request.json()["id"] == 900).await
}

async fn received(upstream: &Scripted, wanted: impl Fn(&Received) -> bool) -> Value {
    loop {
        let all = upstream.received();
        if let Some(found) = all.iter().find(|request| wanted(request)) {
            return found.json();
        }
        upstream.wait_for_received(all.len() + 1).await;
    }
}

/// A client with a standing stream and a session of its own at the server.
async fn listening(world: &World, capabilities: Value) -> (Peer, Events) {
    let peer = Peer::begin(&world.url, &world.house.agent_key, capabilities).await;
    let standing = peer.stream(Method::GET, String::new(), &[]).await;
    peer.call("logging/setLevel", json!({ "level": "warning" })).await;
    let called = peer.tool("echo", json!({})).await.json();
    assert!(called["result"].is_object(), "{called}");
    (peer, standing)
}

#[tokio::test]
async fn what_a_clients_own_upstream_says_comes_on_its_standing_stream() {
    let world = world(Sharing::PerSession).await;
    let (peer, mut standing) = listening(&world, json!({ "roots": {} })).await;
    // Another client of the same agent hears nothing of it: what comes next on its stream is the end.
    let other = Peer::begin(&world.url, &world.house.agent_key, json!({ "roots": {} })).await;
    let mut theirs = other.stream(Method::GET, String::new(), &[]).await;
    world.may.cancel();
    let asked = standing.next().await.unwrap();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    assert_ne!(asked["id"], 900, "{asked}");
    let roots = json!({ "roots": [{ "uri": "file:///home" }] });
    peer.post(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots }))
        .await;
    assert_eq!(answered(&world.upstream).await["result"], roots);
    let heard = standing.next().await.unwrap();
    assert_eq!(heard["params"]["data"], "burning", "{heard}");
    let heard = standing.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/elicitation/complete", "{heard}");
    assert_eq!(heard["params"]["elicitationId"], "e1", "{heard}");
    other.send(Method::DELETE, String::new(), &[]).await;
    assert_eq!(theirs.next().await, None);
}

#[tokio::test]
async fn what_belongs_to_nobody_is_refused_at_once() {
    // How sessions are shared, what the client says it can, whether it has a stream open; and what the server hears.
    let cases = [
        (
            Sharing::Shared,
            json!({ "roots": {} }),
            true,
            "belongs to no call",
        ),
        (
            Sharing::PerSession,
            json!({}),
            true,
            "does not support roots/list",
        ),
        (
            Sharing::PerSession,
            json!({ "roots": {} }),
            false,
            "no stream open",
        ),
    ];
    for (sharing, capabilities, open, why) in cases {
        let world = world(sharing).await;
        let peer = Peer::begin(&world.url, &world.house.agent_key, capabilities).await;
        let _standing = match open {
            true => Some(peer.stream(Method::GET, String::new(), &[]).await),
            false => None,
        };
        peer.tool("echo", json!({})).await;
        world.may.cancel();
        let told = answered(&world.upstream).await;
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{sharing:?}: {told}");
    }
}

#[tokio::test]
async fn a_client_tells_its_own_upstream_session_of_other_roots() {
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    let world = world(Sharing::PerSession).await;
    let (peer, _standing) = listening(&world, json!({ "roots": { "listChanged": true } })).await;
    let accepted = peer.post(&changed).await;
    assert_eq!(accepted.status.as_u16(), 202);
    let told = received(&world.upstream, |request| {
        request.rpc_method().as_deref() == Some("notifications/roots/list_changed")
    });
    assert_eq!(told.await, changed);
}
