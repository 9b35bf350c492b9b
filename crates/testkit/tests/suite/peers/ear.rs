//! What a server says besides its answers, kept; and the form a server asks for, filled in.

use std::sync::Mutex;

use mcp::wire::{RpcError, codes, raw};
use mcp::{Events, Listener, ServerRequest};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Keeps notifications and requests in order, and answers requests.
#[derive(Default)]
pub(super) struct Ear {
    heard: Mutex<Vec<(String, Value)>>,
    count: watch::Sender<usize>,
}

impl Ear {
    /// The parameters of what was heard of a method.
    pub(super) fn of(&self, method: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        let of = heard.iter().filter(|(heard, _)| heard == method);
        of.map(|(_, params)| params.clone()).collect()
    }

    /// Waits until something was heard of a method.
    pub(super) async fn wait_for(&self, method: &str) {
        let mut count = self.count.subscribe();
        count.wait_for(|_| !self.of(method).is_empty()).await.unwrap();
    }

    fn keep(&self, method: &str, params: Option<&RawValue>) {
        let params = params.map_or(Value::Null, |params| serde_json::from_str(params.get()).unwrap());
        self.heard.lock().unwrap().push((method.to_owned(), params));
        self.count.send_modify(|count| *count += 1);
    }

    fn answer(&self, request: ServerRequest) {
        self.keep(&request.method, request.params.as_deref());
        let answer = match request.method.as_str() {
            "elicitation/create" => json!({ "action": "accept", "content": { "name": "Ada", "integer": 7 } }),
            "roots/list" => json!({ "roots": [] }),
            _ => {
                let refusal = RpcError::new(codes::METHOD_NOT_FOUND, "not answered here");
                return request.responder.answer(Err(refusal));
            }
        };
        request.responder.answer(Ok(raw(&answer).unwrap()));
    }
}

impl Events for Ear {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        self.keep(method, params);
    }

    fn request(&self, request: ServerRequest) {
        self.answer(request);
    }
}

impl Listener for Ear {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        self.keep(method, params);
    }

    fn request(&self, request: ServerRequest) {
        self.answer(request);
    }
}
