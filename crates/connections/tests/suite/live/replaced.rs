//! Secrets that are replaced beside us: used for what is opened from then on, and what was opened before does not stay.

use std::time::Duration;

use connections::{Limits, SecretSource};
use domain::{Account, AccountKind, ConnectionId, Effect, NoEvents, Secret, Sharing};
use serde_json::json;
use store::{Change, SecretOwner, SecretSlot};
use testkit::scripted::{Reply, Scripted};

use super::house::{House, Plan, Wanted, child, from, structured, table};

/// A child whose variable is a secret of the workspace.
fn spec() -> connections::StdioSpec {
    let mut spec = child(&[]);
    spec.env = vec![("KEY".to_owned(), SecretSource::Vault("key".into()))];
    spec
}

async fn house(limits: Limits) -> House {
    let house = House::build(Plan {
        commands: vec![("child", spec())],
        limits,
        ..Plan::default()
    })
    .await;
    set(&house, "first").await;
    house
}

async fn set(house: &House, value: &str) {
    let slot = SecretSlot {
        owner: SecretOwner::Workspace,
        field: "key".to_owned(),
    };
    let change = Change::by_system("test");
    let vault = house.store.vault();
    vault
        .put(house.tenant, &change, &slot, &Secret::new(value))
        .await
        .unwrap();
}

/// The secret a process of this client's session was started with.
async fn seen(house: &House, id: ConnectionId, session: Option<&str>) -> String {
    let what = (id, "environment", Effect::ReadOnly);
    let answer = house
        .call_with(what, json!({}), from(session), std::sync::Arc::new(NoEvents))
        .await;
    structured(&answer)["KEY"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_next_process_gets_the_new_one() {
    for (sharing, before, after) in [
        (Sharing::PerCall, None, None),
        (Sharing::PerSession, Some("a"), Some("b")),
    ] {
        let house = house(Limits::default()).await;
        let id = house.add(Wanted::command("child").sharing(sharing)).await;
        assert_eq!(seen(&house, id, before).await, "first", "{sharing:?}");
        set(&house, "second").await;
        assert_eq!(seen(&house, id, after).await, "second", "{sharing:?}");
        // Whoever had a session from before does not keep it.
        assert_eq!(seen(&house, id, before).await, "second", "{sharing:?}");
        house.connections.shutdown(Duration::from_secs(10)).await;
    }
}

#[tokio::test]
async fn an_open_session_is_replaced_at_a_reload() {
    let house = house(Limits::default()).await;
    let id = house.add(Wanted::command("child")).await;
    assert_eq!(seen(&house, id, None).await, "first");
    house.connections.reload(table(vec![("child", spec())])).await;
    assert_eq!(
        house.connections.live(id).sessions,
        1,
        "nothing changed, nothing ends"
    );
    set(&house, "second").await;
    house.connections.reload(table(vec![("child", spec())])).await;
    assert_eq!(seen(&house, id, None).await, "second");
    house.connections.shutdown(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn an_open_session_is_replaced_by_and_by() {
    let limits = Limits {
        idle: Duration::from_millis(100),
        ..Limits::default()
    };
    let house = house(limits).await;
    let id = house.add(Wanted::command("child")).await;
    assert_eq!(seen(&house, id, None).await, "first");
    set(&house, "second").await;
    while seen(&house, id, None).await != "second" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    house.connections.shutdown(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn an_address_gets_its_new_credential() {
    let server = Scripted::start(|request| match request.rpc_method().as_deref() {
        Some("tools/call") => Reply::result(request, json!({ "content": [] })),
        _ => Reply::legacy(request),
    })
    .await
    .unwrap();
    let house = House::build(Plan {
        urls: vec![server.url().to_owned()],
        ..Plan::default()
    })
    .await;
    let mut wanted = Wanted::url(server.url());
    wanted.account = Account {
        kind: AccountKind::Bearer,
        configured: true,
        ..Account::NONE
    };
    let id = house.add(wanted).await;
    for secret in ["first-secret", "second-secret"] {
        house.set_credential(id, secret).await;
        house.connections.reload(table(Vec::new())).await;
        house.act(id, "echo", json!({})).await;
        let received = server.received();
        let calls = received
            .iter()
            .filter(|r| r.rpc_method().as_deref() == Some("tools/call"));
        let sent = calls.last().unwrap().header("authorization");
        assert_eq!(sent, Some(&*format!("Bearer {secret}")));
    }
}
