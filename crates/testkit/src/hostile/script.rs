//! What a hostile server says, apart from how it travels.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What follows each message. What is not named is answered as a plain server does.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Script {
    /// By method. In all texts `$id` stands for the request's id, `$token` for its progress token, `$cancelled` for the id a
    /// cancellation names, `$n` for how often the method came, from 1.
    pub on: BTreeMap<String, Vec<Say>>,
    /// The tools of the first list, the second and so on; the last stays.
    pub lists: Vec<Vec<Value>>,
}

/// One thing a server does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Say {
    /// Answers the request.
    Result(Value),
    /// Answers the request with an error.
    Error(i64, String),
    /// Sends this message. A text that is a placeholder and nothing else becomes what it stands for.
    Message(Value),
    /// Sends this text as a message, whatever it is.
    Line(String),
    /// Sends these bytes as a message, whatever they are.
    Bytes(Vec<u8>),
    /// Sends these bytes without ending the message.
    Part(String),
    /// Answers the request with a text of so many bytes.
    Text(usize),
    /// Sends so many bytes as a message that means nothing.
    Filler(usize),
    /// Sends what means nothing to anybody: an empty line, a comment.
    Comment,
    /// Lets so many milliseconds pass.
    Pause(u64),
    /// Does all that so many times.
    Times(u32, Vec<Say>),
    /// Leaves the exchange open and says nothing more in it.
    Hang,
    /// Ends the process, breaks the connection off.
    End,
}

/// A thing said, ready to travel.
#[derive(Debug, Clone)]
pub(crate) enum Played {
    Message(Vec<u8>),
    Part(Vec<u8>),
    Comment,
    Pause(Duration),
    Hang,
    End,
}

/// How often each method came.
#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<HashMap<String, u64>>);

impl Counts {
    pub(crate) fn another(&self, method: &str) -> u64 {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(method.to_owned()).or_default();
        *count += 1;
        *count
    }
}

impl Script {
    /// A script that does this at every call of a tool.
    #[must_use]
    pub fn calls(says: impl Into<Vec<Say>>) -> Self {
        Self::default().when("tools/call", says)
    }

    /// The same, with this after messages of a method.
    #[must_use]
    pub fn when(mut self, method: &str, says: impl Into<Vec<Say>>) -> Self {
        self.on.insert(method.to_owned(), says.into());
        self
    }

    /// The same, with this list of tools after those it has.
    #[must_use]
    pub fn listing(mut self, tools: impl Into<Vec<Value>>) -> Self {
        self.lists.push(tools.into());
        self
    }

    /// What follows a message, the `n`th of its method.
    pub(crate) fn play(&self, message: &Value, n: u64, modern: bool) -> Vec<Played> {
        let place = Place { message, n };
        let method = message["method"].as_str().unwrap_or_default();
        let mut played = Vec::new();
        match self.on.get(method) {
            Some(says) => says.iter().for_each(|say| place.play(say, &mut played)),
            None => {
                if let Some(say) = self.plain(message, n, modern) {
                    place.play(&say, &mut played);
                }
            }
        }
        played
    }

    /// What a plain server answers.
    fn plain(&self, message: &Value, n: u64, modern: bool) -> Option<Say> {
        if message["id"].is_null() {
            return None;
        }
        let server = json!({ "name": "hostile", "version": "1" });
        Some(match message["method"].as_str()? {
            "initialize" if !modern => {
                let version = message["params"]["protocolVersion"]
                    .as_str()
                    .unwrap_or("2025-06-18");
                Say::Result(
                    json!({ "protocolVersion": version, "capabilities": { "tools": { "listChanged": true } }, "serverInfo": server }),
                )
            }
            "server/discover" if modern => Say::Result(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private", "_meta": { "io.modelcontextprotocol/serverInfo": server },
            })),
            "ping" => Say::Result(json!({})),
            "tools/list" => {
                let at = usize::try_from(n).unwrap_or(1).clamp(1, self.lists.len().max(1)) - 1;
                let tools = self.lists.get(at).cloned().unwrap_or_else(plain_tools);
                Say::Result(
                    json!({ "resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "private", "tools": tools }),
                )
            }
            "tools/call" => Say::Result(
                json!({ "resultType": "complete", "content": [{ "type": "text", "text": "done" }] }),
            ),
            _ => Say::Error(-32601, "Method not found".to_owned()),
        })
    }
}

fn plain_tools() -> Vec<Value> {
    ["look", "act"]
        .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }))
        .to_vec()
}

/// The message that is being answered.
struct Place<'a> {
    message: &'a Value,
    n: u64,
}

impl Place<'_> {
    fn play(&self, say: &Say, played: &mut Vec<Played>) {
        let id = &self.message["id"];
        let one = match say {
            Say::Result(result) => {
                let mut message = json!({ "jsonrpc": "2.0", "id": id });
                message["result"] = self.filled(result);
                Played::Message(message.to_string().into_bytes())
            }
            Say::Error(code, text) => {
                let error = json!({ "code": code, "message": text });
                Played::Message(
                    json!({ "jsonrpc": "2.0", "id": id, "error": error })
                        .to_string()
                        .into_bytes(),
                )
            }
            Say::Message(message) => Played::Message(self.filled(message).to_string().into_bytes()),
            Say::Line(text) => Played::Message(text.replace("$id", &id.to_string()).into_bytes()),
            Say::Bytes(bytes) => Played::Message(bytes.clone()),
            Say::Part(text) => Played::Part(text.replace("$id", &id.to_string()).into_bytes()),
            Say::Text(bytes) => {
                let text = json!({ "type": "text", "text": "b".repeat(*bytes) });
                let result = json!({ "resultType": "complete", "content": [text] });
                Played::Message(
                    json!({ "jsonrpc": "2.0", "id": id, "result": result })
                        .to_string()
                        .into_bytes(),
                )
            }
            Say::Filler(bytes) => Played::Message(vec![b'x'; *bytes]),
            Say::Comment => Played::Comment,
            Say::Pause(ms) => Played::Pause(Duration::from_millis(*ms)),
            Say::Times(times, says) => {
                for _ in 0..*times {
                    says.iter().for_each(|say| self.play(say, played));
                }
                return;
            }
            Say::Hang => Played::Hang,
            Say::End => Played::End,
        };
        played.push(one);
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.as_str() {
                "$id" => self.message["id"].clone(),
                "$token" => self.message["params"]["_meta"]["progressToken"].clone(),
                "$cancelled" => self.message["params"]["requestId"].clone(),
                "$n" => self.n.into(),
                text => text.replace("$n", &self.n.to_string()).into(),
            },
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, item)| (name.clone(), self.filled(item)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}
