//! A server that never answers `server/discover`.

use mcp::TransportKind;
use mcp::version::ProtocolVersion;
use serde_json::json;
use testkit::program::program;

use super::super::process::Recorded;
use super::super::session;

/// How long we wait for its answer, the first time.
const PROBE: std::time::Duration = std::time::Duration::from_millis(300);

#[tokio::test]
async fn silence_is_paid_for_once() {
    let child = program("scripted-child").unwrap();
    let server = Recorded::new("/usr/bin:/bin", child, ["--discover", "never"]);
    let mut remembered = None;
    for sent in [
        ["server/discover", "initialize", "notifications/initialized"].as_slice(),
        &["initialize", "notifications/initialized"],
    ] {
        let (transport, record) = server.session();
        let mut target = session::target(transport);
        target.limits.probe = PROBE;
        let (upstream, _ear) = session::connect(target, remembered).await.unwrap();
        let negotiated = upstream.negotiated();
        assert_eq!(
            (negotiated.version, negotiated.transport),
            (ProtocolVersion::NEWEST_LEGACY, TransportKind::Stdio)
        );
        let echoed = session::call(&upstream, "echo", json!({ "a": 1 })).await;
        assert_eq!(echoed["structuredContent"], json!({ "a": 1 }));
        upstream.close().await;
        let expected: Vec<&str> = sent.iter().copied().chain(["tools/call"]).collect();
        assert_eq!(record.sent(), expected);
        remembered = Some(negotiated);
    }
}
