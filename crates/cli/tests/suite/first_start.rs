//! From the first start to the stop: call, ask, approve, repeat, explain, look back, verify.

use serde_json::{Value, json};

use crate::house::{House, is_alive};

fn call(house: &House, tool: &str, arguments: &str) -> (i32, Value) {
    let said = house.run(&[
        "tools",
        "call",
        tool,
        "--agent",
        "default",
        "--arguments",
        arguments,
        "--json",
    ]);
    (said.code, serde_json::from_str(&said.out).unwrap())
}

// V001 V155 V157 V176
#[test]
fn the_first_governed_calls() {
    let mut house = House::start(&[]);
    assert!(
        house.told.contains("sample__search_notes") && house.told.contains("sample__delete_note"),
        "{}",
        house.told
    );

    let (code, found) = call(&house, "sample__search_notes", r#"{"query": "grant"}"#);
    assert_eq!((code, &found["status"]), (0, &json!("succeeded")), "{found}");

    let risky = r#"{"id": "welcome"}"#;
    let (code, asked) = call(&house, "sample__delete_note", risky);
    assert_eq!((code, &asked["status"]), (1, &json!("waiting")), "{asked}");
    let approval = asked["approval_id"].as_str().unwrap();
    let shown = house.json(&["approvals", "show", approval]);
    assert_eq!(
        (&shown["arguments"], &shown["tool"]),
        (&json!({ "id": "welcome" }), &json!("sample__delete_note"))
    );
    let listed = house.run(&["approvals", "list"]);
    assert!(listed.out.contains(approval), "{listed:?}");

    // An agent's own key answers nothing.
    let own = house.run_with(&["approvals", "resolve", approval, "approved"], &house.agent, "");
    assert_eq!(own.code, 1, "{own:?}");
    assert_eq!(
        house.json(&["approvals", "resolve", approval, "approved"])["state"],
        "approved"
    );
    let (code, done) = call(&house, "sample__delete_note", risky);
    assert_eq!((code, &done["status"]), (0, &json!("succeeded")), "{done}");
    let (code, again) = call(&house, "sample__delete_note", risky);
    assert_eq!(
        (code, &again["status"]),
        (1, &json!("waiting")),
        "one approval is one call: {again}"
    );

    let denied = house.run(&[
        "tools",
        "call",
        "sample__read_note",
        "--agent",
        "default",
        "--arguments",
        risky,
    ]);
    assert_eq!(denied.code, 1, "{denied:?}");
    let why = house.json(&["tools", "explain", "sample__read_note", "--agent", "default"]);
    assert_eq!(
        (&why["decision"], &why["reason"]),
        (&json!("deny"), &json!("no_grant")),
        "{why}"
    );

    let activity = house.json(&["activity", "list", "--all", "--limit", "5"]);
    let of = |tool: &str| {
        let items = activity["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| item["exposed_name"] == tool);
        items
            .map(|item| item["status"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("sample__search_notes"), ["succeeded"]);
    assert_eq!(of("sample__delete_note"), ["waiting", "succeeded", "approved"]);

    let record = house.run(&["audit", "verify"]);
    assert_eq!(record.code, 0, "{record:?}");
    assert_eq!(house.json(&["audit", "verify"])["intact"], true);

    let children = house.descendants();
    assert!(!children.is_empty(), "the sample server is a process");
    assert!(house.stop().success());
    assert_eq!(
        children
            .into_iter()
            .filter(|id| is_alive(*id))
            .collect::<Vec<_>>(),
        [] as [u32; 0]
    );
}
