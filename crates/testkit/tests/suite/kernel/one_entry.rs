//! One call is one entry: an operation that carries a tool call leaves that call's, and what never comes to a call its own.

use domain::{Fact, Risk, Surface};
use gateway::capability::{Action, Capability, Carried, Context, Declaration, Failure, Method, Registry};
use gateway::{FailureKind, ToolReply};
use serde_json::{Value, json};
use store::{ActivityFilter, ActivityItem};

use super::both;
use super::house::{Bench, Decided, House, Plan, in_person};
use super::upstream::{Upstream, tool};

both!(
    a_carried_call_is_the_one_entry,
    a_call_that_is_never_made_leaves_its_attempt,
    who_may_not_is_told_nothing_of_the_input,
    what_does_not_fit_is_recorded_without_its_values,
);

const SURFACES: [Surface; 3] = [Surface::Api, Surface::Mcp, Surface::Cli];

/// What an operation adds to the record, but for the call of `current_time` that settling is.
async fn added(house: &House, before: i64) -> Vec<ActivityItem> {
    house.settle().await;
    let since = ActivityFilter {
        since_seq: Some(before),
        ..ActivityFilter::default()
    };
    let mut items = house.activity(since).await;
    items.retain(|item| exposed(item) != "current_time");
    items
}

async fn now(house: &House) -> i64 {
    house.settle().await;
    house.activity(ActivityFilter::default()).await[0].seq
}

fn exposed(item: &ActivityItem) -> &str {
    let Fact::Decided { exposed, .. } = &item.decided.fact else {
        panic!("no decision: {item:?}")
    };
    exposed
}

fn surface(item: &ActivityItem) -> Option<Surface> {
    let Fact::Decided { surface, .. } = &item.decided.fact else {
        panic!("no decision: {item:?}")
    };
    *surface
}

// V063, DESIGN 4
async fn a_carried_call_is_the_one_entry(bench: Bench) {
    let mut strict = tool("strict");
    strict["inputSchema"] = json!({ "type": "object", "required": ["path"] });
    let upstream = Upstream::echoing(vec![tool("look"), tool("move"), tool("ask"), tool("no"), strict]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    house.reading("files/strict").await;
    house.changing("files/move").await;
    house.grant("files/ask", "allow").await;
    house.grant("files/no", "deny").await;
    let cases = [
        ("files__look", "allow", "succeeded"),
        ("files__move", "allow", "succeeded"),
        ("files__ask", "ask", "waiting"),
        ("files__no", "deny", "denied"),
        ("files__none", "deny", "denied"),
        ("files__strict", "allow", "failed"),
    ];
    for (name, decision, status) in cases {
        for surface in SURFACES {
            for principal in [house.admin, house.caller] {
                let before = now(&house).await;
                let input = json!({ "agent": "default", "name": name, "arguments": { "a": 1 } });
                let reply = house
                    .ask_as(principal, surface, ("tools.call", input))
                    .await
                    .unwrap();
                let body = reply.body.unwrap();
                let items = added(&house, before).await;
                assert_eq!(items.len(), 1, "{name} {surface}: {items:#?}");
                let item = &items[0];
                assert_eq!((exposed(item), self::surface(item)), (name, Some(surface)));
                assert_eq!(body["call_id"], json!(item.decided.call.uuid()));
                assert_eq!(
                    (&*Decided::of(item).decision, &body["status"]),
                    (decision, &json!(status))
                );
                assert_eq!(&*item.decided.actor.kind, principal.kind());
                assert_eq!(item.decided.actor.agent, Some(house.agent.id));
                let facts = house.entries().await;
                let facts = facts.iter().filter(|entry| entry.call == item.decided.call);
                assert_eq!(
                    facts.map(|entry| entry.fact.kind()).collect::<Vec<_>>(),
                    ["decided", "ended"]
                );
            }
        }
    }
    // What an agent calls itself came through no operator's surface.
    let own = house.call("files__look", json!({})).await;
    assert_eq!(surface(&house.item(own.call).await), None);
    house.verify().await;
}

fn finds_nothing(_context: Context, _input: Value) -> Result<Carried, Failure> {
    panic!("a mistake in a handler")
}

fn tells(_reply: ToolReply) -> Value {
    Value::Null
}

fn carrying(surfaces: &'static [Surface]) -> Capability {
    let declaration = Declaration {
        id: "faulty.carry",
        title: "Faulty",
        description: "Panics.",
        method: Method::Post,
        path: "/faulty/carry",
        success: 200,
        paged: false,
        idempotent: false,
        risk: Risk::Low,
        effect: domain::Effect::ReadOnly,
        surfaces,
        action: Action::Use,
        command: None,
    };
    Capability::carrying(declaration, finds_nothing, tells)
}

#[test]
fn what_carries_a_call_is_no_tool_of_an_agent() {
    let refused = Registry::new(vec![carrying(&[Surface::Api, Surface::Agent])]).unwrap_err();
    assert!(refused.to_string().contains("faulty.carry"), "{refused}");
}

async fn a_call_that_is_never_made_leaves_its_attempt(bench: Bench) {
    let plan = Plan {
        more: vec![carrying(&[Surface::Api])],
        ..Plan::default()
    };
    let house = House::build(bench, plan).await;
    let cases = [
        (
            "tools.call",
            json!({ "agent": "nobody", "name": "x" }),
            FailureKind::NotFound,
            "tool_error",
        ),
        (
            "tools.call",
            json!({ "name": "x" }),
            FailureKind::Invalid,
            "invalid_arguments",
        ),
        ("faulty.carry", json!({}), FailureKind::Internal, "internal"),
    ];
    for (id, input, kind, code) in cases {
        let before = now(&house).await;
        let failure = house.ask(id, input.clone()).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{id} {input}: {failure}");
        let items = added(&house, before).await;
        assert_eq!(items.len(), 1, "{id} {input}: {items:#?}");
        let shown = house
            .admin("activity.list", json!({ "call": items[0].decided.call.uuid() }))
            .await;
        let shown = &shown["items"][0];
        assert_eq!(
            (
                &shown["name"],
                &shown["decision"],
                &shown["status"],
                &shown["code"]
            ),
            (&json!(id), &json!("allow"), &json!("failed"), &json!(code)),
        );
    }
    house.verify().await;
}

/// An input that fits nothing, with a value that must not come up again.
fn unfit() -> Value {
    json!({ "n0nsense": "s3cret-value", "agent": { "s3cret-value": 1 } })
}

// O025
async fn who_may_not_is_told_nothing_of_the_input(bench: Bench) {
    let house = House::with(bench, &[]).await;
    let ids: Vec<_> = house.gateway.registry().iter().map(|c| c.declaration).collect();
    for declaration in ids.into_iter().filter(|d| d.action != Action::Use) {
        for surface in SURFACES.into_iter().filter(|surface| declaration.on(*surface)) {
            let before = now(&house).await;
            let refused = house
                .ask_as(house.caller, surface, (declaration.id, unfit()))
                .await
                .unwrap_err();
            assert_eq!(
                (refused.kind, refused.code),
                (FailureKind::Forbidden, "access.forbidden"),
                "{} on {surface}",
                declaration.id
            );
            let items = added(&house, before).await;
            assert_eq!(items.len(), 1, "{}: {items:#?}", declaration.id);
            assert_eq!(&*Decided::of(&items[0]).decision, "deny");
        }
    }
    house.verify().await;
}

async fn what_does_not_fit_is_recorded_without_its_values(bench: Bench) {
    let house = House::with(bench, &[]).await;
    let ids: Vec<_> = house.gateway.registry().iter().map(|c| c.declaration).collect();
    for declaration in ids {
        let before = now(&house).await;
        let on = |surface: &Surface| declaration.on(*surface);
        let asked_on = [Surface::Api, Surface::Page].into_iter().find(on).unwrap();
        // To a page people come in person.
        let who = match asked_on {
            Surface::Page => in_person(house.tenant),
            _ => house.admin,
        };
        let refused = house
            .ask_as(who, asked_on, (declaration.id, unfit()))
            .await
            .unwrap_err();
        assert_eq!(
            (refused.kind, refused.code),
            (FailureKind::Invalid, "input.invalid"),
            "{}: {refused}",
            declaration.id
        );
        assert!(!refused.detail.contains("s3cret"), "{refused}");
        let mut items = added(&house, before).await;
        if declaration.id == "current_time" {
            // The one that settling is came after it.
            items = house.calls_of("current_time").await;
            items.retain(|item| item.seq > before);
            items.truncate(1);
        }
        assert_eq!(items.len(), 1, "{}: {items:#?}", declaration.id);
        let Some(Fact::Ended { outcome, .. }) = items[0].ended.as_ref().map(|entry| &entry.fact) else {
            panic!("no end: {items:#?}")
        };
        assert_eq!(
            outcome.code,
            Some(domain::OutcomeCode::InvalidArguments),
            "{}",
            declaration.id
        );
        assert_eq!(surface(&items[0]), Some(asked_on));
    }
    let all = format!("{:?}", house.entries().await);
    assert!(!all.contains("s3cret") && !all.contains("n0nsense"), "{all}");
    house.verify().await;
}
