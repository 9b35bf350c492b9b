//! What the platform gives a workspace, seen from outside: known, offered to every agent, and asked nothing before it is used.

use serde_json::{Value, json};

use crate::house::House;

const GIVES: &[(&str, &str)] = &[
    ("SWITCHBOARD__PRESETS__PROVIDE_EXA", "true"),
    ("SWITCHBOARD__REGISTRY__URL", ""),
];

fn exa(house: &House) -> Value {
    let listed = house.json(&["connections", "list"]);
    let all = listed["items"].as_array().unwrap();
    let mut found = all
        .iter()
        .filter(|connection| connection["preset"]["id"] == "exa");
    let only = found.next().unwrap().clone();
    assert!(found.next().is_none(), "given once");
    only
}

// V045, V048, V054, V056
#[test]
fn a_new_deployment_has_exa_and_asks_it_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut house = House::start_in(folder, &["--no-sample"], GIVES);
    for _ in 0..2 {
        let exa = exa(&house);
        // A discovery, had there been one, would have said what it came to: there is no network here.
        assert_eq!(
            (
                &exa["health_code"],
                &exa["checked_at"],
                &exa["preparation_status"]
            ),
            (&json!("unchecked"), &Value::Null, &json!("ready"))
        );
        let status = house.json(&["connections", "status", "exa"]);
        assert_eq!(
            (&status["sessions"], &status["in_flight"]),
            (&json!(0), &json!(0))
        );
        let explained = house.json(&["tools", "explain", "exa__web_search_exa", "--agent", "default"]);
        assert_eq!(explained["decision"], "allow", "{explained}");
        house.stop();
        house.again();
    }
    let version = exa(&house)["version"].to_string();
    let off = [
        "connections",
        "update",
        "exa",
        "--expected-version",
        &version,
        "--enabled",
        "false",
    ];
    assert_eq!(house.run(&off).code, 0);
    let explained = house.json(&["tools", "explain", "exa__web_search_exa", "--agent", "default"]);
    assert_eq!(explained["decision"], "deny", "{explained}");
    let removed = house.run(&["connections", "remove", "exa"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    house.stop();
    house.again();
    assert_eq!(house.json(&["connections", "list"])["items"], json!([]));

    // Whoever looks for servers hears of presets, also where there is no registry.
    let found = house.json(&["registry", "search", "--query", "linear"]);
    assert_eq!(
        (&found["items"][0]["preset"], &found["registry_reachable"]),
        (&json!("linear"), &json!(false))
    );
    let presets = house.json(&["connections", "presets", "--all"]);
    let ids = presets["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|preset| &preset["id"]);
    assert!(ids.into_iter().any(|id| id == "exa"));
    assert!(house.stop().success());
}
