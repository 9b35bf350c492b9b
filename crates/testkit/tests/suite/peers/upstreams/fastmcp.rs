//! A server made with FastMCP, which speaks both eras on both transports.

use std::sync::Arc;

use mcp::version::ProtocolVersion;
use mcp::{Negotiated, Transport, TransportKind, Upstream};
use serde_json::json;
use testkit::tools::Tools;

use super::super::ear::Ear;
use super::super::process::{Recorded, listen};
use super::super::session::{call, call_heard, connect, endpoint, names, target, text};
use super::super::tap::Tap;
use super::opening;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/suite/peers/upstreams/fastmcp_server.py"
);

/// What a caller may remember, and the version that then has to be spoken.
const CASES: [(Option<ProtocolVersion>, ProtocolVersion); 4] = [
    (None, ProtocolVersion::V2026_07_28),
    (Some(ProtocolVersion::V2026_07_28), ProtocolVersion::V2026_07_28),
    (Some(ProtocolVersion::V2025_11_25), ProtocolVersion::V2025_11_25),
    (Some(ProtocolVersion::V2025_03_26), ProtocolVersion::V2025_03_26),
];

async fn check_offers(upstream: &Upstream) {
    assert_eq!(
        (
            upstream.server().name.as_str(),
            upstream.server().version.as_str()
        ),
        ("small", "1")
    );
    let offered: [&[&str]; 4] = [
        &["add", "count", "fail"],
        &["ask"],
        &["note://greeting"],
        &["note://of/{name}"],
    ];
    assert_eq!(names(upstream).await, offered);
    let sum = call(upstream, "add", json!({ "a": 2, "b": 40 })).await;
    assert_eq!(
        (text(&sum), &sum["structuredContent"]),
        ("42", &json!({ "result": 42 }))
    );
    let failed = call(upstream, "fail", json!({})).await;
    assert_eq!(failed["isError"], true, "{failed}");

    let ear = Arc::<Ear>::default();
    let counted = call_heard(upstream, "count", json!({ "to": 3 }), &ear).await;
    assert_eq!(text(&counted), "counted to 3");
    let progress = ear.of("notifications/progress");
    let steps: Vec<_> = progress
        .iter()
        .map(|params| params["progress"].as_f64().unwrap())
        .collect();
    assert_eq!(steps, [1.0, 2.0, 3.0]);
}

fn negotiated(version: ProtocolVersion, transport: TransportKind) -> Negotiated {
    Negotiated { version, transport }
}

#[tokio::test]
async fn over_stdio() {
    let Some(tools) = Tools::find() else { return };
    let server = Recorded::new(&tools.path(), tools.python("python"), [SCRIPT, "stdio"]);
    for (remembered, version) in CASES {
        let remembered = remembered.map(|version| negotiated(version, TransportKind::Stdio));
        let (transport, record) = server.session();
        let (upstream, _ear) = connect(target(transport), remembered).await.unwrap();
        assert_eq!(upstream.negotiated(), negotiated(version, TransportKind::Stdio));
        check_offers(&upstream).await;
        upstream.close().await;
        let opening = opening(remembered.is_some(), version);
        assert_eq!(record.sent()[..opening.len()], *opening);
    }
}

#[tokio::test]
async fn over_streamable_http() {
    let Some(tools) = Tools::find() else { return };
    let listening = listen(&tools, tools.python("python"), [SCRIPT, "http"]).await;
    let tap = Tap::on(listening.port).await;
    for (remembered, version) in CASES {
        let remembered = remembered.map(|version| negotiated(version, TransportKind::StreamableHttp));
        let transport = Transport::Auto(endpoint(&tap.url("/mcp")));
        let (upstream, _ear) = connect(target(transport), remembered).await.unwrap();
        assert_eq!(
            upstream.negotiated(),
            negotiated(version, TransportKind::StreamableHttp)
        );
        assert_eq!(tap.take_methods(), opening(remembered.is_some(), version));
        check_offers(&upstream).await;
        upstream.close().await;
        tap.take_methods();
    }
}
