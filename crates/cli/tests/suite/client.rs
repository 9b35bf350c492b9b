//! An MCP client with a session, over HTTP.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::http::{Answer, send};
use tokio::task::JoinHandle;

use crate::house::House;

const VERSION: &str = "2025-11-25";

/// A client that has introduced itself.
#[derive(Clone)]
pub(crate) struct Client {
    url: String,
    key: String,
    session: String,
}

impl Client {
    /// Begins a session as the agent `default`.
    pub(crate) async fn begin(house: &House) -> Self {
        let mut client = Self {
            url: format!("{}/mcp", house.url),
            key: house.agent.clone(),
            session: String::new(),
        };
        let hello = json!({
            "protocolVersion": VERSION, "capabilities": {}, "clientInfo": { "name": "client", "version": "1" },
        });
        let welcome = client.post(request("initialize", &hello)).await.unwrap();
        let session = welcome.headers.get("mcp-session-id").unwrap();
        session.to_str().unwrap().clone_into(&mut client.session);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(ready).await.unwrap().status, StatusCode::ACCEPTED);
        client
    }

    /// Calls a tool, and leaves the answer to be waited for: none when the connection broke off.
    pub(crate) fn call(&self, tool: &str) -> JoinHandle<Option<Value>> {
        let (client, params) = (self.clone(), json!({ "name": tool, "arguments": {} }));
        tokio::spawn(async move {
            let answer = client.post(request("tools/call", &params)).await?;
            Some(answer.json()).filter(|answer| !answer.is_null())
        })
    }

    async fn post(&self, message: Value) -> Option<Answer> {
        let bearer = format!("Bearer {}", self.key);
        let mut headers = vec![
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", VERSION),
        ];
        if !self.session.is_empty() {
            headers.push(("mcp-session-id", &self.session));
        }
        send(Method::POST, &self.url, &headers, message.to_string())
            .await
            .ok()
    }
}

/// Whether a call was answered with a result of the tool.
pub(crate) fn succeeded(answer: Option<&Value>) -> bool {
    answer.is_some_and(|answer| answer["result"]["content"].is_array() && answer["result"]["isError"] != true)
}

fn request(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}
