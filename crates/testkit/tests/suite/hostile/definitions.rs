//! What servers say about their tools: lists without an end, names nobody can carry, schemas that cost, tools that change.

use std::collections::HashSet;

use connections::Limits;
use domain::{DefinitionState, Health, OutcomeCode, Status};
use serde_json::{Value, json};
use store::PinName;
use testkit::hostile::{Plan, Say, Script, Way};
use testkit::scripted::{Reply, Scripted};

use super::bench::{ALL, ANSWERED, Bench, Case, FINE, limits, seen};
use super::counts::until;

fn tool(name: &str, schema: Value) -> Value {
    json!({ "name": name, "inputSchema": schema })
}

fn plain(name: &str) -> Value {
    tool(name, json!({ "type": "object" }))
}

/// A list, and what is made of it.
struct List {
    name: &'static str,
    script: Script,
    health: Health,
    /// Tools the agent sees.
    visible: usize,
    /// Text that the catalogue's problems hold.
    problem: &'static str,
}

fn listed(
    name: &'static str,
    tools: impl Into<Vec<Value>>,
    health: Health,
    (visible, problem): (usize, &'static str),
) -> List {
    let script = Script::default().listing(tools);
    List {
        name,
        script,
        health,
        visible,
        problem,
    }
}

/// Every tool the agent sees of a connection.
async fn visible(bench: &Bench<'_>, namespace: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = bench.client.ask("tools/list", "", params).await;
        let tools = page["result"]["tools"]
            .as_array()
            .unwrap_or_else(|| panic!("{page}"));
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match page["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    names.retain(|name| name.starts_with(&format!("{namespace}__")));
    names
}

/// Lists, and what comes of each on every transport. Calls every tool that is seen if there are few.
async fn check(lists: Vec<List>, limits: Limits) {
    let cases: Vec<Case> = lists
        .iter()
        .map(|list| {
            let plan = Plan {
                script: list.script.clone(),
                http: None,
            };
            Case::new(list.name, plan, ANSWERED).over(ALL)
        })
        .collect();
    let mut bench = Bench::empty(limits).await;
    bench.connect(&cases).await;
    for subject in &bench.subjects {
        subject.hostile.misbehave(true).unwrap();
    }
    let ids: Vec<_> = bench.subjects.iter().map(|subject| subject.id).collect();
    assert_eq!(bench.house.prepare_all(&ids).await, []);
    bench.open_to_all().await;
    for subject in &bench.subjects {
        let list = lists.iter().find(|list| list.name == subject.case.name).unwrap();
        let what = format!("{} over {:?}", list.name, subject.hostile.way);
        let connection = bench.house.shown(subject.id).await;
        assert_eq!(
            connection.health, list.health,
            "{what}: {:?}",
            connection.health_detail
        );
        let catalogue = bench
            .house
            .store
            .catalogue(bench.house.tenant, subject.id)
            .await
            .unwrap()
            .unwrap();
        let problems = catalogue.problems.join("\n");
        assert!(problems.contains(list.problem), "{what}: {problems}");
        let names = visible(&bench, &subject.namespace).await;
        assert_eq!(names.len(), list.visible, "{what}: {names:?}");
        assert_eq!(
            names.iter().collect::<HashSet<_>>().len(),
            names.len(),
            "{what}: {names:?}"
        );
        for name in &names {
            let sound = name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            assert!(sound && name.len() <= 64, "{what}: {name}");
        }
        for name in names.iter().take(12) {
            let (answer, healthy) = tokio::join!(bench.client.call(name), bench.client.call("healthy__act"));
            assert_eq!(
                (seen(&answer), seen(&healthy)),
                (FINE, FINE),
                "{what}: {name}: {answer}"
            );
        }
    }
}

// V051
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_without_an_end_have_one() {
    let page = |cursor: &str| {
        let tools: Vec<Value> = (0..25).map(|n| plain(&format!("t$n-{n}"))).collect();
        let result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools, "nextCursor": cursor });
        Script::default().when("tools/list", [Say::Result(result)])
    };
    let list = |name, cursor, visible| List {
        name,
        script: page(cursor),
        health: Health::Degraded,
        visible,
        problem: "does not end within the bounds",
    };
    let limits = Limits {
        items: 200,
        ..limits()
    };
    check(
        vec![
            list("endless pages", "after $n", 200),
            list("a cursor that leads back", "again", 50),
        ],
        limits,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_nobody_can_carry() {
    let long = |times: usize, end: &str| plain(&format!("{}{end}", "a_very_long_name_".repeat(times)));
    let lists = vec![
        listed(
            "names that collide once they are made sound",
            ["a.b", "a/b", "a b", "a_b", "A_b", "a:b"].map(plain),
            Health::Ok,
            (6, ""),
        ),
        listed(
            "names of 239 characters",
            [long(14, "a"), long(14, "b"), long(14, "c")],
            Health::Ok,
            (3, ""),
        ),
        listed(
            "a name of 341 characters",
            [long(20, "a"), plain("b")],
            Health::Degraded,
            (1, "341 bytes"),
        ),
        listed(
            "control and bidi characters",
            [
                "pay\u{202e}yap",
                "pay",
                "tab\there",
                "nul\u{0}",
                "line\nend",
                "\u{2066}\u{2069}",
                "\u{200b}pay",
                "é",
            ]
            .map(plain),
            Health::Ok,
            (8, ""),
        ),
        listed(
            "the same name twice",
            [plain("a"), plain("a"), plain("b")],
            Health::Degraded,
            (2, "occurs twice"),
        ),
        listed(
            "names that are none",
            [
                json!({ "name": 7, "inputSchema": {} }),
                json!({ "inputSchema": {} }),
                plain(""),
                json!("tool"),
                json!(null),
                plain("b"),
            ],
            Health::Degraded,
            (1, "left out"),
        ),
    ];
    check(lists, limits()).await;
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schemas_that_cost_or_lead_astray() {
    let trap = Scripted::start(Reply::legacy).await.unwrap();
    let doubling: Value = (0..40)
        .map(|n| {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            (format!("d{n}"), json!({ "allOf": [next, next] }))
        })
        .chain([("d40".to_owned(), json!({}))])
        .collect::<serde_json::Map<_, _>>()
        .into();
    let deep = (0..5_000).fold("{}".to_owned(), |inner, _| format!(r#"{{"not":{inner}}}"#));
    let with = |member: &str| {
        let bad = format!(r#"{{"name":"bad","inputSchema":{{}},"{member}":{deep}}}"#);
        let good = r#"{"name":"good","inputSchema":{}}"#;
        let text = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{bad},{good}]}}}}"#);
        Script::default().when("tools/list", [Say::Line(text)])
    };
    let one = |name, schema: Value, health, visible| {
        listed(name, [tool("bad", schema), plain("good")], health, (visible, ""))
    };
    let lists = vec![
        one(
            "a schema that leads to itself",
            json!({ "type": "object", "properties": { "next": { "$ref": "#" } } }),
            Health::Ok,
            2,
        ),
        one(
            "a schema elsewhere",
            json!({ "$ref": trap.url() }),
            Health::Degraded,
            1,
        ),
        one(
            "a schema in a file",
            json!({ "$ref": "file:///etc/passwd" }),
            Health::Degraded,
            1,
        ),
        one(
            "a reference to nothing",
            json!({ "$ref": "#/$defs/none" }),
            Health::Degraded,
            1,
        ),
        one("a type that is none", json!({ "type": 7 }), Health::Degraded, 1),
        one("a schema that is a text", json!("object"), Health::Degraded, 1),
        one(
            "a schema that doubles forty times",
            json!({ "$defs": doubling, "$ref": "#/$defs/d0" }),
            Health::Degraded,
            1,
        ),
        one(
            "a pattern that is tried for ever",
            json!({ "type": "object", "properties": { "a": { "pattern": "^(a+)+$" } } }),
            Health::Ok,
            2,
        ),
        one(
            "a schema of a megabyte",
            json!({ "type": "object", "description": "d".repeat(1_000_000) }),
            Health::Degraded,
            1,
        ),
        List {
            name: "a schema of 5,000 levels",
            script: with("outputSchema"),
            health: Health::Degraded,
            visible: 1,
            problem: "left out",
        },
        List {
            name: "5,000 levels of what nobody knows",
            script: with("_meta"),
            health: Health::Degraded,
            visible: 1,
            problem: "left out",
        },
    ];
    check(lists, limits()).await;
    assert!(trap.received().is_empty(), "a reference was followed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_that_make_a_pattern_cost() {
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "^(a+)+$" } } });
    let script = Script::default().listing([tool("act", schema)]);
    let cases = vec![Case::new("pattern", Plan { script, http: None }, ANSWERED).over(&[Way::Json])];
    let mut bench = Bench::empty(limits()).await;
    bench.connect(&cases).await;
    bench.subjects[0].hostile.misbehave(true).unwrap();
    bench.house.discover(bench.subjects[0].id).await;
    bench.open_to_all().await;
    let arguments = json!({ "name": "c0__act", "arguments": { "a": format!("{}!", "a".repeat(5_000)) } });
    let (answer, healthy) = tokio::join!(
        bench.client.ask("tools/call", "c0__act", arguments),
        bench.client.call("healthy__act")
    );
    assert_eq!(
        (seen(&answer), seen(&healthy)),
        ((Status::Failed, Some(OutcomeCode::InvalidArguments)), FINE),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_tools_and_one_more() {
    let many = |count: usize| (0..count).map(|n| plain(&format!("t{n}"))).collect::<Vec<_>>();
    let script = Script::default().listing(many(5_001));
    let cases = vec![Case::new("many", Plan { script, http: None }, ANSWERED).over(&[Way::Json])];
    let mut bench = Bench::empty(limits()).await;
    bench.connect(&cases).await;
    let subject = &bench.subjects[0];
    subject.hostile.misbehave(true).unwrap();
    bench.house.discover(subject.id).await;
    bench.open_to_all().await;
    let shown = bench.house.shown(subject.id).await;
    assert_eq!(shown.health, Health::Degraded, "one is left out");
    assert_eq!(visible(&bench, "c0").await.len(), 5_000);
    let (last, healthy) = tokio::join!(bench.client.call("c0__t4999"), bench.client.call("healthy__act"));
    assert_eq!((seen(&last), seen(&healthy)), (FINE, FINE));
}

// V051
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_changes_while_it_is_called_is_held_back() {
    let other =
        json!({ "name": "act", "description": "now something else", "inputSchema": { "type": "object" } });
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let result = json!({ "resultType": "complete", "content": [] });
    let script = Script::calls([Say::Message(changed), Say::Result(result)]).listing([plain("look"), other]);
    let ways: &[Way] = &[Way::Stdio, Way::Sse, Way::Events];
    let cases = vec![Case::new("changes", Plan { script, http: None }, ANSWERED).over(ways)];
    let bench = Bench::start(&cases).await;
    for subject in &bench.subjects {
        subject.hostile.misbehave(true).unwrap();
        let name = format!("{}__act", subject.namespace);
        // What was under way when the news came goes by what was accepted.
        assert_eq!(
            seen(&bench.beside_a_healthy_call(&subject.namespace, "act").await),
            FINE
        );
        let pin = PinName {
            connection: subject.id,
            name: "act".into(),
        };
        until("the change is seen", async || {
            let pin = bench
                .house
                .store
                .pin(bench.house.tenant, &pin)
                .await
                .unwrap()
                .unwrap();
            pin.state == DefinitionState::Quarantined
        })
        .await;
        until("it is held back", async || {
            let answer = bench.client.call(&name).await;
            answer["error"].is_object() || answer["result"]["isError"] == true
        })
        .await;
        let other = bench.beside_a_healthy_call(&subject.namespace, "look").await;
        assert_eq!(seen(&other), FINE, "{:?}: {other}", subject.hostile.way);
    }
}
