//! What tests use to follow a session and to build targets.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use domain::Secret;
use mcp::egress::Egress;
use mcp::http::{HttpClient, HttpLimits, HttpOptions};
use mcp::wire::{Object, raw};
use mcp::{
    ClientProfile, Events, HttpTarget, Limits, Listener, LogLine, Request, ServerRequest, StdioCommand,
    Target, Transport,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use url::Url;

/// Something a session or a call was told.
#[derive(Debug)]
pub(crate) enum Told {
    Notification(String, Value),
    Request(ServerRequest),
    Line(LogLine),
    Closed(String),
}

/// Hears everything, as the events of a call or as the listener of a session.
pub(crate) struct Ear(mpsc::UnboundedSender<Told>);

/// What an ear heard, in order.
pub(crate) struct Heard(mpsc::UnboundedReceiver<Told>);

pub(crate) fn ear() -> (Arc<Ear>, Heard) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Arc::new(Ear(sender)), Heard(receiver))
}

impl Heard {
    pub(crate) async fn next(&mut self) -> Told {
        tokio::time::timeout(Duration::from_secs(20), self.0.recv())
            .await
            .expect("something is heard")
            .unwrap()
    }

    /// The next notification; other things are skipped.
    pub(crate) async fn notification(&mut self) -> (String, Value) {
        loop {
            if let Told::Notification(method, params) = self.next().await {
                return (method, params);
            }
        }
    }

    /// The next request; other things are skipped.
    pub(crate) async fn request(&mut self) -> ServerRequest {
        loop {
            if let Told::Request(request) = self.next().await {
                return request;
            }
        }
    }

    /// The reason of the end; other things are skipped.
    pub(crate) async fn closed(&mut self) -> String {
        loop {
            if let Told::Closed(reason) = self.next().await {
                return reason;
            }
        }
    }

    /// What is there now, without waiting.
    pub(crate) fn rest(&mut self) -> Vec<Told> {
        std::iter::from_fn(|| self.0.try_recv().ok()).collect()
    }
}

impl Ear {
    fn hear(&self, told: Told) {
        self.0.send(told).ok();
    }
}

impl Events for Ear {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        self.hear(Told::Notification(method.to_owned(), value(params)));
    }

    fn request(&self, request: ServerRequest) {
        self.hear(Told::Request(request));
    }
}

impl Listener for Ear {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        self.hear(Told::Notification(method.to_owned(), value(params)));
    }

    fn request(&self, request: ServerRequest) {
        self.hear(Told::Request(request));
    }

    fn line(&self, line: &LogLine) {
        self.hear(Told::Line(line.clone()));
    }

    fn closed(&self, reason: &str) {
        self.hear(Told::Closed(reason.to_owned()));
    }
}

fn value(params: Option<&RawValue>) -> Value {
    params.map_or(Value::Null, |params| serde_json::from_str(params.get()).unwrap())
}

pub(crate) fn object(value: &Value) -> Object {
    serde_json::from_value(value.clone()).unwrap()
}

pub(crate) fn in_seconds(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

/// A tool call with plenty of time.
pub(crate) fn call(tool: &str, arguments: &Value) -> Request {
    Request::new(
        "tools/call",
        object(&json!({"name": tool, "arguments": arguments})),
        in_seconds(20),
    )
}

pub(crate) fn json_of(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap()
}

pub(crate) fn profile() -> ClientProfile {
    ClientProfile::new("suite", "1", raw(&json!({"elicitation": {}})).unwrap()).unwrap()
}

/// The scripted child in one of its modes.
pub(crate) fn child(mode: &str) -> Target {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/child.py");
    command(&["python3", "-u", script, mode])
}

#[expect(
    clippy::disallowed_methods,
    reason = "a child needs the PATH of whoever runs the tests"
)]
pub(crate) fn path() -> (String, Secret) {
    ("PATH".to_owned(), Secret::new(std::env::var("PATH").unwrap()))
}

pub(crate) fn command(argv: &[&str]) -> Target {
    let command = StdioCommand {
        argv: argv.iter().map(OsString::from).collect(),
        env: vec![("GREETING".to_owned(), Secret::new("hello"))],
        inherit: vec![path()],
        cwd: None,
        reaper: None,
    };
    Target {
        transport: Transport::Stdio(command),
        client: profile(),
        limits: Limits {
            probe: LONG,
            ..limits()
        },
    }
}

/// Long enough never to pass by accident on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) fn limits() -> Limits {
    Limits {
        connect: LONG,
        http_probe: LONG,
        ..Limits::default()
    }
}

/// Exactly one address on loopback, registered as an operator would.
pub(crate) fn http(url: &str) -> HttpTarget {
    let egress = Egress::public().register(url).unwrap();
    let options = HttpOptions {
        limits: HttpLimits::default(),
        egress: Arc::new(egress),
        ..HttpOptions::default()
    };
    HttpTarget::new(Url::parse(url).unwrap(), HttpClient::new(options).unwrap())
}

pub(crate) fn target(transport: Transport) -> Target {
    Target {
        transport,
        client: profile(),
        limits: limits(),
    }
}
