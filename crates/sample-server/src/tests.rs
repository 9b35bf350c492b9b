//! The server as a client sees it: raw JSON-RPC lines over an in-memory pipe, in both lifecycles.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

struct Line {
    input: WriteHalf<DuplexStream>,
    output: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    modern: bool,
    next_id: u32,
    notifications: Vec<Value>,
}

impl Line {
    async fn modern() -> Self {
        Self::open(true)
    }

    async fn legacy() -> Self {
        let mut line = Self::open(false);
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let answer = line.call("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        line.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        line
    }

    fn open(modern: bool) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(crate::run(input, output));
        let (output, input) = tokio::io::split(ours);
        let output = BufReader::new(output).lines();
        Self {
            input,
            output,
            modern,
            next_id: 0,
            notifications: Vec::new(),
        }
    }

    async fn call(&mut self, method: &str, mut params: Value) -> Value {
        self.next_id += 1;
        if self.modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        loop {
            let line = self
                .output
                .next_line()
                .await
                .unwrap()
                .expect("the server is still there");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    async fn send(&mut self, message: &Value) {
        self.input
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.call("tools/call", json!({ "name": name, "arguments": arguments }))
            .await["result"]
            .take()
    }
}

#[tokio::test]
async fn answers_discover_and_initialize() {
    let discovered = Line::modern().await.call("server/discover", json!({})).await;
    let versions = discovered["result"]["supportedVersions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");
    let tools = Line::legacy().await.call("tools/list", json!({})).await;
    assert_eq!(
        tools["result"]["tools"].as_array().map(Vec::len),
        Some(5),
        "{tools}"
    );
}

#[tokio::test]
async fn declares_what_each_tool_does() {
    let listed = Line::modern().await.call("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let mut hints: Vec<(&str, bool, bool)> = tools
        .iter()
        .map(|tool| {
            let annotations = &tool["annotations"];
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
            (
                tool["name"].as_str().unwrap(),
                annotations["readOnlyHint"].as_bool().unwrap(),
                annotations["destructiveHint"].as_bool().unwrap(),
            )
        })
        .collect();
    hints.sort_unstable();
    let expected = [
        ("delete_note", false, true),
        ("export_notes", true, false),
        ("read_note", true, false),
        ("search_notes", true, false),
        ("write_note", false, false),
    ];
    assert_eq!(hints, expected);
}

#[tokio::test]
async fn a_deleted_note_is_gone_in_both_lifecycles() {
    for mut line in [Line::modern().await, Line::legacy().await] {
        let found = line.tool("search_notes", json!({ "query": "approval" })).await;
        let expected =
            json!({ "notes": [{ "id": "asking-first", "title": "Calls that ask first" }], "total": 1 });
        assert_eq!(found["structuredContent"], expected, "{found}");
        let deleted = line.tool("delete_note", json!({ "id": "asking-first" })).await;
        assert_eq!(
            deleted["structuredContent"]["title"], "Calls that ask first",
            "{deleted}"
        );
        let again = line.tool("read_note", json!({ "id": "asking-first" })).await;
        assert_eq!(again["isError"], true, "{again}");
    }
}

#[tokio::test]
async fn a_written_note_can_be_read_as_a_resource() {
    let mut line = Line::modern().await;
    let written = line
        .tool("write_note", json!({ "title": "Milk", "body": "two litres" }))
        .await;
    assert_eq!(written["structuredContent"]["id"], "milk", "{written}");
    let read = line
        .call("resources/read", json!({ "uri": "notes://note/milk" }))
        .await;
    assert_eq!(read["result"]["contents"][0]["text"], "two litres", "{read}");
    let index = line
        .call("resources/read", json!({ "uri": "notes://index" }))
        .await;
    let text = index["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("- [Milk](notes://note/milk)"), "{text}");
    let missing = line
        .call("resources/read", json!({ "uri": "notes://note/beer" }))
        .await;
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
}

#[tokio::test]
async fn export_reports_progress_note_by_note() {
    let mut line = Line::modern().await;
    let params = json!({ "name": "export_notes", "arguments": {}, "_meta": { "progressToken": "p" } });
    let exported = line.call("tools/call", params).await;
    assert_eq!(exported["result"]["structuredContent"]["notes"], 5, "{exported}");
    let steps: Vec<&Value> = line
        .notifications
        .iter()
        .map(|message| &message["params"]["progress"])
        .collect();
    assert_eq!(steps, [1.0, 2.0, 3.0, 4.0, 5.0], "{:?}", line.notifications);
}

#[tokio::test]
async fn the_prompt_takes_a_goal() {
    let mut line = Line::legacy().await;
    let prompt = line
        .call(
            "prompts/get",
            json!({ "name": "first_steps", "arguments": { "goal": "book trains" } }),
        )
        .await;
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(text.contains("I want to book trains."), "{text}");
}

#[tokio::test]
async fn a_client_that_leaves_at_once_is_no_error() {
    let (ours, theirs) = tokio::io::duplex(64);
    drop(ours);
    let (input, output) = tokio::io::split(theirs);
    assert!(crate::run(input, output).await.is_ok());
}
