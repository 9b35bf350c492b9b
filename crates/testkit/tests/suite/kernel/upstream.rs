//! An upstream server whose tools a test can change and whose calls it can hold.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use testkit::scripted::{Received, Reply, Scripted};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A legacy server over Streamable HTTP with these tools.
pub(crate) struct Upstream {
    pub(crate) server: Scripted,
    tools: Arc<Mutex<Vec<Value>>>,
    calls: Arc<watch::Sender<Vec<Value>>>,
}

impl Upstream {
    /// A server whose calls all answer with their arguments.
    pub(crate) async fn echoing(tools: Vec<Value>) -> Self {
        Self::answering(tools, echo).await
    }

    /// A server whose calls this answers.
    pub(crate) async fn answering(
        tools: Vec<Value>,
        script: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let tools = Arc::new(Mutex::new(tools));
        let calls = Arc::new(watch::Sender::new(Vec::new()));
        let (listed, called) = (tools.clone(), calls.clone());
        let server = Scripted::start(move |request| match request.rpc_method().as_deref() {
            Some("tools/list") => Reply::result(request, json!({ "tools": *listed.lock().unwrap() })),
            Some("tools/call") => {
                let reply = script(request);
                called.send_modify(|calls| calls.push(request.json()["params"].clone()));
                reply
            }
            _ => Reply::legacy(request),
        })
        .await
        .unwrap();
        Self { server, tools, calls }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        let url = url::Url::parse(self.server.url()).unwrap();
        url.socket_addrs(|| None).unwrap()[0]
    }

    /// Changes what it lists from now on.
    pub(crate) fn now_lists(&self, tools: Vec<Value>) {
        *self.tools.lock().unwrap() = tools;
    }

    /// The `params` of every call it received.
    pub(crate) fn calls(&self) -> Vec<Value> {
        self.calls.borrow().clone()
    }

    /// The arguments of every call it received.
    pub(crate) fn arguments(&self) -> Vec<Value> {
        self.calls()
            .into_iter()
            .map(|params| params["arguments"].clone())
            .collect()
    }

    /// Waits until it has received so many calls.
    pub(crate) async fn wait_for_calls(&self, count: usize) {
        self.calls
            .subscribe()
            .wait_for(|calls| calls.len() >= count)
            .await
            .unwrap();
    }
}

/// A result that holds the call's arguments.
pub(crate) fn echo(request: &Received) -> Reply {
    let arguments = request.json()["params"]["arguments"].clone();
    let text = json!({ "type": "text", "text": "done" });
    Reply::result(
        request,
        json!({ "content": [text], "structuredContent": { "echo": arguments } }),
    )
}

/// An `echo` that waits for the test.
pub(crate) fn held_echo(request: &Received, until: &CancellationToken) -> Reply {
    echo(request).after(until.clone())
}

/// A tool that takes any object.
pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "description": format!("the tool {name}"), "inputSchema": { "type": "object" } })
}

/// A tool whose server says that it only reads.
pub(crate) fn hinted(name: &str) -> Value {
    let mut tool = tool(name);
    tool["annotations"] = json!({ "readOnlyHint": true });
    tool
}
