//! Prompts, resources, completions, subscriptions and what passes during a call, with a real server of both eras.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use connections::{Cleared, ConnectionEventKind, DispatchBody, NotCleared, Relay};
use domain::{CallEvents, Effect, NoEvents, PeerResponder, Status, Target, ToolRef};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use testkit::fixture::Fixture;

use super::house::{House, Plan, Wanted, from, plain, raw};

async fn set_up() -> (House, Fixture, domain::ConnectionId) {
    let fixture = Fixture::start().await.unwrap();
    let house = House::build(Plan {
        urls: vec![fixture.url.clone()],
        ..Plan::default()
    })
    .await;
    let id = house.add(Wanted::url(&fixture.url)).await;
    house.connections.prepare(house.tenant, id).await.unwrap();
    (house, fixture, id)
}

fn body(answer: &connections::Dispatched) -> Value {
    match &answer.body {
        DispatchBody::Result(raw) | DispatchBody::InputRequired(raw) => {
            serde_json::from_str(raw.get()).unwrap()
        }
        other => panic!("{other:?}: {}", answer.detail),
    }
}

#[tokio::test]
async fn everything_is_listed_and_modern_is_spoken() {
    let (house, _fixture, id) = set_up().await;
    let stored = house.stored(id).await;
    assert_eq!(stored.negotiated.as_deref(), Some("2026-07-28 streamable_http"));
    let catalogue = house.store.catalogue(house.tenant, id).await.unwrap().unwrap();
    assert!(catalogue.tools.len() > 10);
    assert!(
        !catalogue.prompts.is_empty() && !catalogue.resources.is_empty() && !catalogue.templates.is_empty()
    );
    assert!(catalogue.capabilities.is_some() && catalogue.server.is_some());
}

#[tokio::test]
async fn prompts_and_resources_by_the_servers_own_names() {
    let (house, _fixture, id) = set_up().await;
    let prompt = Target::Prompt {
        connection: id,
        name: "test_prompt_with_arguments".into(),
    };
    let params = json!({ "name": "exposed__elsewhere", "arguments": { "arg1": "x", "arg2": "y" } });
    let cleared = house.clear(prompt.clone(), &params, Effect::ReadOnly).await;
    let answer = house
        .connections
        .dispatch(cleared, plain(), Arc::new(NoEvents))
        .await;
    assert_eq!(answer.outcome.status, Status::Succeeded, "{answer:?}");
    assert!(body(&answer)["messages"].is_array());

    let catalogue = house.store.catalogue(house.tenant, id).await.unwrap().unwrap();
    let first: Value = serde_json::from_str(catalogue.resources[0].get()).unwrap();
    let resource = Target::Resource {
        connection: id,
        uri: first["uri"].as_str().unwrap().into(),
    };
    let cleared = house
        .clear(resource, &json!({ "uri": "file:///elsewhere" }), Effect::ReadOnly)
        .await;
    let answer = house
        .connections
        .dispatch(cleared, plain(), Arc::new(NoEvents))
        .await;
    assert_eq!(body(&answer)["contents"][0]["uri"], first["uri"]);

    let asked = json!({ "ref": { "type": "ref/prompt", "name": "another" }, "argument": { "name": "arg1", "value": "" } });
    let answer = house.relay(prompt, asked, Relay::Complete, plain()).await;
    assert!(body(&answer)["completion"]["values"].is_array(), "{answer:?}");
}

#[tokio::test]
async fn a_resource_is_heard_of_while_somebody_wants_to() {
    let (mut house, _fixture, id) = set_up().await;
    let catalogue = house.store.catalogue(house.tenant, id).await.unwrap().unwrap();
    let uris: Vec<Arc<str>> = catalogue
        .resources
        .iter()
        .map(|raw| {
            serde_json::from_str::<Value>(raw.get()).unwrap()["uri"]
                .as_str()
                .unwrap()
                .into()
        })
        .collect();
    for uri in &uris {
        let target = Target::Resource {
            connection: id,
            uri: uri.clone(),
        };
        for session in ["a", "b"] {
            let answer = house
                .relay(target.clone(), json!({}), Relay::Subscribe, from(Some(session)))
                .await;
            assert_eq!(answer.outcome.status, Status::Succeeded, "{answer:?}");
        }
    }
    let updated = |kind: &ConnectionEventKind| matches!(kind, ConnectionEventKind::ResourceUpdated { .. });
    house.act(id, "test_trigger_resource_change", json!({})).await;
    house.hear(id, updated).await;
    // One of two leaves: the other still hears.
    house.connections.end_session(&from(Some("a")).session);
    house.act(id, "test_trigger_resource_change", json!({})).await;
    house.hear(id, updated).await;
}

#[derive(Default)]
struct Heard(Mutex<Vec<(String, Option<Value>)>>);

impl CallEvents for Heard {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let params = params.map(|p| serde_json::from_str(p.get()).unwrap());
        self.0.lock().unwrap().push((method.to_owned(), params));
    }

    fn request(&self, method: &str, _params: Option<&RawValue>, responder: PeerResponder) {
        self.0.lock().unwrap().push((method.to_owned(), None));
        drop(responder);
    }
}

#[tokio::test]
async fn progress_reaches_the_caller() {
    let (house, _fixture, id) = set_up().await;
    let heard = Arc::new(Heard::default());
    let mut to = plain();
    to.progress = true;
    let answer = house
        .call_with(
            (id, "test_tool_with_progress", Effect::ReadOnly),
            json!({}),
            to,
            heard.clone(),
        )
        .await;
    assert_eq!(answer.outcome.status, Status::Succeeded, "{answer:?}");
    let heard = heard.0.lock().unwrap();
    assert!(
        heard
            .iter()
            .filter(|(method, _)| method == "notifications/progress")
            .count()
            >= 2,
        "{heard:?}"
    );
}

#[tokio::test]
async fn a_server_that_needs_input_is_passed_on() {
    let (house, _fixture, id) = set_up().await;
    let mut to = plain();
    to.client.capabilities = Some(raw(
        &json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} }),
    ));
    let answer = house
        .call_with(
            (id, "test_input_required_result_request_state", Effect::Mutating),
            json!({}),
            to,
            Arc::new(NoEvents),
        )
        .await;
    assert!(
        matches!(answer.body, DispatchBody::InputRequired(_)),
        "{answer:?}"
    );
    assert_eq!(body(&answer)["resultType"], "input_required");
}

// C02
#[tokio::test]
async fn nothing_runs_that_is_not_cleared() {
    let (house, _fixture, id) = set_up().await;
    let target = || {
        Target::Tool(ToolRef::Upstream {
            connection: id,
            name: "test_echo".into(),
        })
    };
    let permit = house.permit(target(), &json!({}), Effect::Mutating);
    let other = house.permit(target(), &json!({}), Effect::ReadOnly);
    // A record is not an intent, and an intent is for its own call.
    let entry = |permit: &policy::Permit| domain::Entry {
        call: permit.call().id,
        actor: domain::Actor::of(&permit.call().principal, None),
        at: domain::Clock::System.now(),
        fact: domain::Fact::Ended {
            outcome: domain::Outcome::SUCCEEDED,
            duration_us: 0,
            result: None,
        },
    };
    let recorded = house.store.record(house.tenant, entry(&other)).unwrap();
    assert_eq!(
        Cleared::recorded(permit, &recorded).unwrap_err(),
        NotCleared::IntentMissing
    );
    tokio::time::timeout(Duration::from_secs(10), recorded.written())
        .await
        .unwrap()
        .unwrap();
}
