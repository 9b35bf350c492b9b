//! A server outside that counts what it is sent, can be held in the middle of an answer, and outlives whoever asks it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use testkit::scripted::{Reply, Scripted};
use tokio_util::sync::CancellationToken;

/// Methods that are not answered yet.
type Gates = Arc<Mutex<HashMap<String, CancellationToken>>>;

/// The server, with a tool `read` and a tool `write`.
pub(crate) struct Upstream {
    server: Scripted,
    gates: Gates,
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let gates = Gates::default();
        let known = gates.clone();
        let server = Scripted::start(move |request| {
            let method = request.rpc_method().unwrap_or_default();
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            let reply = match &*method {
                "tools/list" => Reply::result(request, json!({ "tools": [tool("read"), tool("write")] })),
                "tools/call" => {
                    let text = json!({ "type": "text", "text": "done" });
                    Reply::result(request, json!({ "content": [text] }))
                }
                _ => Reply::legacy(request),
            };
            match known.lock().unwrap().get(&method) {
                Some(gate) => reply.after(gate.clone()),
                None => reply,
            }
        });
        Self {
            server: server.await.unwrap(),
            gates,
        }
    }

    pub(crate) fn url(&self) -> &str {
        self.server.url()
    }

    /// Answers nothing of this method from now on.
    pub(crate) fn hold(&self, method: &str) {
        let gate = CancellationToken::new();
        self.gates.lock().unwrap().insert(method.to_owned(), gate);
    }

    /// Answers everything, also what waits.
    pub(crate) fn release(&self) {
        self.gates
            .lock()
            .unwrap()
            .drain()
            .for_each(|(_, gate)| gate.cancel());
    }

    /// How often it was asked so.
    pub(crate) fn heard(&self, method: &str) -> usize {
        self.server.received_of(method).len()
    }

    /// How many calls of tools it was sent, ever.
    pub(crate) fn calls(&self) -> usize {
        self.heard("tools/call")
    }

    /// The credential of the last call of a tool.
    pub(crate) fn last_credential(&self) -> Option<String> {
        let calls = self.server.received_of("tools/call");
        calls.last()?.header("authorization").map(str::to_owned)
    }

    /// Waits until it was asked so for the so-manieth time.
    pub(crate) async fn until_heard(&self, method: &str, count: usize) {
        let heard = async {
            loop {
                let all = self.server.received().len();
                if self.heard(method) >= count {
                    return;
                }
                self.server.wait_for_received(all + 1).await;
            }
        };
        let heard = tokio::time::timeout(Duration::from_secs(60), heard).await;
        assert!(
            heard.is_ok(),
            "{method} did not come {count} times within a minute"
        );
    }
}
