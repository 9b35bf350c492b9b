//! `switchboard mcp` before the real server.

use serde_json::{Value, json};

use crate::house::House;

/// Says these lines through the bridge; returns what came back.
fn talk(house: &House, options: &[&str], key: &str, lines: &[Value]) -> Vec<Value> {
    let line: Vec<&str> = std::iter::once("mcp").chain(options.iter().copied()).collect();
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let said = house.run_with(&line, key, &input);
    assert_eq!(said.code, 0, "{said:?}");
    said.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn answer(answers: &[Value], id: u32) -> &Value {
    answers
        .iter()
        .find(|answer| answer["id"] == id)
        .unwrap_or_else(|| panic!("no answer to {id} in {answers:?}"))
}

#[test]
fn both_eras_pass_through() {
    let house = House::start(&[]);
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } },
    });
    let legacy = [
        hello,
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "sample__search_notes", "arguments": { "query": "grant" } } }),
    ];
    let answers = talk(&house, &[], &house.agent, &legacy);
    assert_eq!(answer(&answers, 1)["result"]["protocolVersion"], "2025-06-18");
    let tools = answer(&answers, 2)["result"]["tools"].as_array().unwrap();
    assert!(
        tools.iter().any(|tool| tool["name"] == "sample__search_notes"),
        "{tools:?}"
    );
    assert!(answer(&answers, 3)["result"]["content"].is_array(), "{answers:?}");

    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let modern = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "search_notes", "arguments": { "query": "grant" }, "_meta": meta } }),
    ];
    let answers = talk(
        &house,
        &["--agent", "default", "--connection", "sample"],
        &house.admin,
        &modern,
    );
    assert!(answer(&answers, 1)["result"]["tools"].is_array(), "{answers:?}");
    assert!(answer(&answers, 2)["result"]["content"].is_array(), "{answers:?}");

    let refused = talk(&house, &[], "sb_agent_nonsense", &modern);
    assert!(answer(&refused, 1)["error"]["message"].is_string(), "{refused:?}");
}
