//! A command of the operator's configuration behind the same road.

use std::time::Duration;

use connections::{CommandTable, SecretSource, StdioSpec};
use domain::{
    Account, Connection, ConnectionId, ConnectionOwner, ConnectionState, Endpoint, Health, Label, Namespace,
    Secret, Sharing, Status,
};
use serde_json::json;
use store::Change;

use super::both;
use super::house::{Bench, House, Plan, START, asked, code, result};

both!(a_configured_command_is_governed_like_any_server);

// X003, X007, X011, V124
async fn a_configured_command_is_governed_like_any_server(bench: Bench) {
    let program = testkit::program::program("scripted-child").unwrap();
    let files = tempfile::tempdir().unwrap();
    let counted = files.path().join("calls");
    let argv = [
        program.to_str().unwrap(),
        "--count-calls",
        counted.to_str().unwrap(),
        "--noise",
        "starting with key s3cret-of-the-child\tand a \u{1b}[31mcolour",
    ];
    let argv = argv
        .map(|argument| SecretSource::Known(Secret::new(argument)))
        .to_vec();
    let spec = StdioSpec {
        argv,
        env: vec![(
            "KEY".to_owned(),
            SecretSource::Known(Secret::new("s3cret-of-the-child")),
        )],
        inherited: Vec::new(),
        cwd: None,
    };
    let commands: CommandTable = [("child", spec)].into_iter().collect();
    let house = House::build(
        bench,
        Plan {
            commands,
            ..Plan::default()
        },
    )
    .await;
    house
        .store
        .create_connection(house.tenant, &Change::by_system("config.load"), configured())
        .await
        .unwrap();
    house.gateway.refresh(house.tenant).await.unwrap();
    let report = house
        .admin("connections.test", json!({ "connection": "child" }))
        .await;
    assert_eq!(report["ok"], true, "{report:#}");
    house.changing("child/echo").await;
    house.changing("child/crash").await;
    house.grant("child/environment", "allow").await;
    let counts = || std::fs::read_to_string(&counted).unwrap_or_default();
    asked(&house.call("child__environment", json!({})).await);
    assert_eq!(counts(), "", "nothing is sent before a person said yes");
    let reply = house
        .call("child__echo", json!({ "a": [1, { "b": null }] }))
        .await;
    assert_eq!(reply.outcome.status, Status::Succeeded, "{reply:?}");
    assert!(result(&reply).to_string().contains("null"));
    // It ends in the middle of a call: nobody knows what came of it, and it is not sent again.
    let reply = house.call("child__crash", json!({})).await;
    assert_eq!((reply.outcome.status, code(&reply)), (Status::Unknown, "unknown"));
    assert_eq!(counts(), "echo\ncrash\n");
    // What it writes beside the protocol is shown, without its secrets.
    let status = house
        .admin("connections.status", json!({ "connection": "child" }))
        .await;
    assert_eq!(
        status["lines"][0]["text"],
        "starting with key [secret] and a  [31mcolour"
    );
    assert_eq!(status["lines"][0]["source"], "stdout");
    // X020
    assert_eq!(
        house.call("child__echo", json!({})).await.outcome.status,
        Status::Succeeded
    );
    house.verify().await;
    house
        .gateway
        .connections()
        .shutdown(Duration::from_secs(10))
        .await;
}

fn configured() -> Connection {
    Connection {
        id: ConnectionId::generate(),
        owner: ConnectionOwner::Workspace,
        label: Label::new("child").unwrap(),
        namespace: Namespace::new("child").unwrap(),
        endpoint: Endpoint::Command {
            configured: "child".into(),
        },
        account: Account::NONE,
        header_names: Vec::new(),
        sharing: Sharing::Shared,
        allowed_tools: None,
        context: domain::ContextSelection::All,
        enabled: true,
        trusted: true,
        call_timeout_ms: None,
        preset: None,
        verified: None,
        state: ConnectionState::Pending,
        health: Health::Unchecked,
        health_detail: None,
        checked_at: None,
        negotiated: None,
        catalogue_version: 0,
        catalogue_at: None,
        version: 1,
        created_at: START,
    }
}
