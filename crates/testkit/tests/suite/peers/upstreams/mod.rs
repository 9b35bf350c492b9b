//! Real published servers, and one that never answers `server/discover`.

mod everything;
mod fastmcp;
mod reference;
mod silent;

use mcp::version::{Era, ProtocolVersion};
use mcp::{Negotiated, TransportKind, Upstream};
use serde_json::Value;

use super::process::Recorded;
use super::session;

/// What a stdio server is expected to answer to `server/discover`.
#[derive(Clone, Copy)]
enum Discovery {
    /// A result: it is modern.
    Result,
    /// An error of this code: it is not.
    Error(i64),
}

impl Discovery {
    fn version(self) -> ProtocolVersion {
        match self {
            Self::Result => ProtocolVersion::NEWEST,
            Self::Error(_) => ProtocolVersion::NEWEST_LEGACY,
        }
    }

    fn check(self, answer: &Value) {
        match self {
            Self::Result => assert!(answer["result"]["supportedVersions"].is_array(), "{answer}"),
            Self::Error(code) => assert_eq!(answer["error"]["code"], code, "{answer}"),
        }
    }
}

/// What we open a session with.
fn opening(remembered: bool, version: ProtocolVersion) -> &'static [&'static str] {
    match (version.era(), remembered) {
        (Era::Modern, _) => &["server/discover"],
        (Era::Legacy, false) => &["server/discover", "initialize", "notifications/initialized"],
        (Era::Legacy, true) => &["initialize", "notifications/initialized"],
    }
}

/// Connects to a stdio server twice, the second time with what the first agreed on, and lets `act` use both sessions.
/// Each has to be opened with no more requests than it needs.
async fn twice(server: &Recorded, discovery: Discovery, act: impl AsyncFn(&Upstream)) {
    let negotiated = Negotiated {
        version: discovery.version(),
        transport: TransportKind::Stdio,
    };
    for remembered in [None, Some(negotiated)] {
        let (transport, record) = server.session();
        let (upstream, _ear) = session::connect(session::target(transport), remembered)
            .await
            .unwrap();
        assert_eq!(upstream.negotiated(), negotiated);
        act(&upstream).await;
        upstream.close().await;

        let sent = record.sent();
        let opening = opening(remembered.is_some(), discovery.version());
        assert_eq!(sent[..opening.len()], *opening);
        let again = sent[opening.len()..]
            .iter()
            .find(|method| opening.contains(&method.as_str()));
        assert_eq!(again, None);
        if opening.contains(&"server/discover") {
            discovery.check(&record.first_answer());
        }
    }
}
