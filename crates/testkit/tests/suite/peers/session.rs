//! A session with a peer: connecting, listing everything, calling a tool.

use std::sync::Arc;
use std::time::Duration;

use mcp::discovery::{Bounds, Kind, list_all};
use mcp::http::{HttpClient, HttpOptions};
use mcp::wire::{Object, raw};
use mcp::{
    ClientProfile, ConnectError, HttpTarget, Limits, Negotiated, Request, Target, Transport, Upstream,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use super::ear::Ear;

/// Programs of others take seconds to start while the machine is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// An HTTP endpoint on this machine.
pub(super) fn endpoint(url: &str) -> HttpTarget {
    let egress = mcp::egress::Egress::public().register(url).unwrap();
    let http = HttpClient::new(HttpOptions {
        egress: Arc::new(egress),
        ..HttpOptions::default()
    });
    HttpTarget::new(Url::parse(url).unwrap(), http.unwrap())
}

/// A target with limits that fit programs of others.
pub(super) fn target(transport: Transport) -> Target {
    let capabilities = raw(&json!({ "elicitation": { "form": {} }, "roots": {} })).unwrap();
    Target {
        transport,
        client: ClientProfile::new("switchboard-tests", "1", capabilities).unwrap(),
        limits: Limits {
            connect: PATIENCE,
            discovery: PATIENCE,
            // They may take their time before they read the first message at all.
            probe: PATIENCE,
            http_probe: PATIENCE,
            ..Limits::default()
        },
    }
}

/// Connects and keeps what is heard outside of calls.
pub(super) async fn connect(
    target: Target,
    remembered: Option<Negotiated>,
) -> Result<(Upstream, Arc<Ear>), ConnectError> {
    let ear = Arc::new(Ear::default());
    let upstream = Upstream::connect(target, remembered, Arc::<Ear>::clone(&ear)).await?;
    Ok((upstream, ear))
}

/// Everything of one kind, each definition as the bytes that came. Nothing may have been skipped.
pub(super) async fn list(upstream: &Upstream, kind: Kind) -> Vec<String> {
    let listing = list_all(upstream, kind, Bounds::default()).await.unwrap();
    assert_eq!((listing.problems, listing.truncated), (Vec::new(), false));
    listing.items.iter().map(|item| item.get().to_owned()).collect()
}

/// The names of everything, sorted: tools, prompts, resources, templates.
pub(super) async fn names(upstream: &Upstream) -> [Vec<String>; 4] {
    let mut all: [Vec<String>; 4] = Default::default();
    let kinds = [Kind::Tools, Kind::Prompts, Kind::Resources, Kind::Templates];
    for (names, kind) in all.iter_mut().zip(kinds) {
        for item in list(upstream, kind).await {
            let item: Value = serde_json::from_str(&item).unwrap();
            names.push(item[kind.key()].as_str().unwrap().to_owned());
        }
        names.sort();
    }
    all
}

/// Calls a tool; what belongs to the call goes to `ear`.
pub(super) async fn call_heard(upstream: &Upstream, name: &str, arguments: Value, ear: &Arc<Ear>) -> Value {
    let params = Object::new()
        .with("name", name)
        .unwrap()
        .with("arguments", &arguments)
        .unwrap();
    let request = Request::new("tools/call", params, Instant::now() + PATIENCE).with_progress();
    let result = upstream.request(request, Arc::<Ear>::clone(ear)).await.unwrap();
    serde_json::from_str(result.get()).unwrap()
}

/// Calls a tool.
pub(super) async fn call(upstream: &Upstream, name: &str, arguments: Value) -> Value {
    call_heard(upstream, name, arguments, &Arc::default()).await
}

/// The text of a result's only content.
pub(super) fn text(result: &Value) -> &str {
    assert!(!result["isError"].as_bool().unwrap_or_default(), "{result}");
    result["content"][0]["text"].as_str().unwrap()
}
