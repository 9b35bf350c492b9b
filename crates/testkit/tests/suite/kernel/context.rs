//! Prompts and resources, by grants of their own and on the same road.

use std::time::Duration;

use domain::{CallStatus, Fact, Status};
use gateway::ReplyBody;
use serde_json::{Value, json};
use testkit::fixture::Fixture;

use super::both;
use super::house::{Bench, Decided, House, Plan, denied, raw, result};

both!(
    prompts_and_resources_have_grants_of_their_own,
    a_completion_goes_by_the_grant_of_what_it_completes,
    what_was_taken_away_is_gone_in_older_views
);

async fn fixture_house(bench: Bench) -> (House, Fixture) {
    let fixture = Fixture::start().await.unwrap();
    let house = House::build(
        bench,
        Plan {
            urls: vec![fixture.url.clone()],
            ..Plan::default()
        },
    )
    .await;
    house.connect_to("demo", &fixture.url, json!({})).await;
    (house, fixture)
}

async fn allow(house: &House, kind: &str, permission: &str) {
    let input = json!({ "agent": "default", "connection": "demo", "kind": kind, "permission": permission });
    house.admin("grants.set", input).await;
}

fn shown(house: &House) -> (usize, usize, usize) {
    let view = house.view();
    (
        view.prompts().len(),
        view.resources().len(),
        view.templates().len(),
    )
}

async fn prompts_and_resources_have_grants_of_their_own(bench: Bench) {
    let (house, fixture) = fixture_house(bench).await;
    let prompt = (
        "prompts/get",
        "demo__test_simple_prompt",
        json!({ "name": "demo__test_simple_prompt" }),
    );
    let resource = (
        "resources/read",
        "test://static-text",
        json!({ "uri": "test://static-text" }),
    );
    let read = async |(method, subject, params): &(&str, &str, Value)| {
        house.read(method, subject, params.clone()).await
    };
    // A tool's grant gives neither.
    house.grant("demo/test_echo", "allow").await;
    assert_eq!(shown(&house), (0, 0, 0));
    for request in [&prompt, &resource] {
        let reply = read(request).await;
        assert_eq!(reply.outcome.status, Status::Denied);
        assert_eq!(&*Decided::of(&house.item(reply.call).await).decision, "deny");
    }
    allow(&house, "prompts", "allow").await;
    assert!(
        shown(&house).0 >= 4 && shown(&house).1 == 0,
        "{:?}",
        shown(&house)
    );
    let reply = read(&prompt).await;
    assert!(result(&reply)["messages"].is_array(), "{reply:?}");
    let item = house.item(reply.call).await;
    let Fact::Decided { target, exposed, .. } = &item.decided.fact else {
        panic!()
    };
    assert_eq!(
        (target.kind(), &**target.name(), &**exposed),
        ("prompt", "test_simple_prompt", prompt.1)
    );
    assert_eq!(item.status, CallStatus::Succeeded);
    assert_eq!(read(&resource).await.outcome.status, Status::Denied);

    allow(&house, "resources", "allow").await;
    assert!(shown(&house).1 >= 4);
    let reply = read(&resource).await;
    assert!(result(&reply)["contents"].is_array(), "{reply:?}");
    let Fact::Decided { target, .. } = &house.item(reply.call).await.decided.fact.clone() else {
        panic!()
    };
    assert_eq!(
        (target.kind(), &**target.name()),
        ("resource", "test://static-text")
    );
    // A URI no list names: the server's own error, untouched.
    let reply = house
        .read(
            "resources/read",
            "test://nowhere",
            json!({ "uri": "test://nowhere" }),
        )
        .await;
    assert!(matches!(reply.body, ReplyBody::Error(_)), "{reply:?}");
    assert_eq!(reply.outcome.status, Status::Failed);

    allow(&house, "prompts", "deny").await;
    assert_eq!(
        (shown(&house).0, read(&prompt).await.outcome.status),
        (0, Status::Denied)
    );
    assert_eq!(read(&resource).await.outcome.status, Status::Succeeded);
    // A person is never asked about these.
    let input = json!({ "agent": "default", "connection": "demo", "kind": "prompts", "permission": "ask" });
    assert_eq!(
        house.ask("grants.set", input).await.unwrap_err().field.as_deref(),
        Some("permission")
    );
    house.change("demo", json!({ "enabled": false })).await;
    assert_eq!(
        (shown(&house), read(&resource).await.outcome.status),
        ((0, 0, 0), Status::Denied)
    );
    house.verify().await;
    house.gateway.connections().shutdown(Duration::from_secs(5)).await;
    drop(fixture);
}

async fn a_completion_goes_by_the_grant_of_what_it_completes(bench: Bench) {
    let (house, fixture) = fixture_house(bench).await;
    let argument = json!({ "name": "arg1", "value": "t" });
    let prompt = "demo__test_prompt_with_arguments";
    let (of_prompt, of_resource) = (
        json!({ "ref": { "type": "ref/prompt", "name": prompt }, "argument": argument }),
        json!({ "ref": { "type": "ref/resource", "uri": "test://static-text" }, "argument": argument }),
    );
    for (prompts, resources) in [
        ("allow", "deny"),
        ("deny", "allow"),
        ("allow", "allow"),
        ("deny", "deny"),
    ] {
        allow(&house, "prompts", prompts).await;
        allow(&house, "resources", resources).await;
        for (subject, params, permission) in [
            (prompt, &of_prompt, prompts),
            ("test://static-text", &of_resource, resources),
        ] {
            let reply = house.read("completion/complete", subject, params.clone()).await;
            let denied = reply.outcome.status == Status::Denied;
            assert_eq!(denied, permission == "deny", "{subject} {permission}: {reply:?}");
            if subject == prompt && !denied {
                assert!(result(&reply)["completion"]["values"].is_array(), "{reply:?}");
            }
        }
    }
    house.verify().await;
    house.gateway.connections().shutdown(Duration::from_secs(5)).await;
    drop(fixture);
}

// C03
async fn what_was_taken_away_is_gone_in_older_views(bench: Bench) {
    let (house, fixture) = fixture_house(bench).await;
    allow(&house, "resources", "allow").await;
    let older = house.view();
    let read = async || {
        let request = gateway::ContextRequest {
            method: "resources/read".into(),
            subject: "test://static-text".into(),
            params: raw(&json!({ "uri": "test://static-text" })),
            exchange: gateway::Exchange::default(),
        };
        house.gateway.context(&older, request).await
    };
    assert_eq!(read().await.outcome.status, Status::Succeeded);
    allow(&house, "resources", "deny").await;
    assert_eq!(denied(&read().await), "revoked");
    house
        .admin("connections.remove", json!({ "connection": "demo" }))
        .await;
    assert_eq!(denied(&read().await), "revoked");
    house.verify().await;
    house.gateway.connections().shutdown(Duration::from_secs(5)).await;
    drop(fixture);
}
