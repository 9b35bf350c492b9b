//! server-everything, legacy, on the three transports it has.

use std::sync::Arc;

use mcp::discovery::Kind;
use mcp::version::ProtocolVersion;
use mcp::{Negotiated, Transport, TransportKind, Upstream};
use serde_json::json;
use testkit::tools::Tools;

use super::super::ear::Ear;
use super::super::process::{Listening, Recorded, listen};
use super::super::session::{call, call_heard, connect, endpoint, list, names, target, text};
use super::super::tap::Tap;
use super::{Discovery, opening, twice};

const PROGRAM: &str = "mcp-server-everything";

async fn everything(tools: &Tools, transport: &str) -> (Listening, Tap) {
    let listening = listen(tools, tools.npm(PROGRAM), [transport]).await;
    let tap = Tap::on(listening.port).await;
    (listening, tap)
}

/// Lists and calls as far as every transport has to agree.
async fn check_offers(upstream: &Upstream) {
    assert_eq!(upstream.server().name, "mcp-servers/everything");
    let [tools, prompts, resources, templates] = names(upstream).await;
    for name in ["echo", "get-sum", "trigger-elicitation-request", "get-roots-list"] {
        assert!(tools.iter().any(|tool| tool == name), "{name} in {tools:?}");
    }
    assert!(prompts.len() >= 4 && resources.len() >= 7 && templates.len() == 2);
    let echoed = call(upstream, "echo", json!({ "message": "grüß dich" })).await;
    assert_eq!(text(&echoed), "Echo: grüß dich");
    let sum = call(upstream, "get-sum", json!({ "a": 2, "b": 40 })).await;
    assert_eq!(text(&sum), "The sum of 2 and 40 is 42.");
}

/// Progress comes back to the call that asked, and so does the server's question in the middle of one.
async fn check_conversation(upstream: &Upstream) {
    let ear = Arc::<Ear>::default();
    let arguments = json!({ "duration": 0.2, "steps": 4 });
    let done = call_heard(upstream, "trigger-long-running-operation", arguments, &ear).await;
    assert!(
        text(&done).starts_with("Long running operation completed."),
        "{done}"
    );
    let progress = ear.of("notifications/progress");
    let steps: Vec<_> = progress.iter().map(|params| params["progress"].clone()).collect();
    // The last step and the answer leave together; over HTTP nothing orders them.
    assert!(steps.starts_with(&[json!(1), json!(2), json!(3)]), "{progress:?}");

    let ear = Arc::<Ear>::default();
    let answered = call_heard(upstream, "trigger-elicitation-request", json!({}), &ear).await;
    let told = answered["content"][1]["text"].as_str().unwrap();
    assert!(
        told.contains("- Name: Ada") && told.contains("- Favorite Integer: 7"),
        "{answered}"
    );
    let asked = ear.of("elicitation/create");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["requestedSchema"]["required"], json!(["name"]));
}

#[tokio::test]
async fn over_stdio() {
    let Some(tools) = Tools::find() else { return };
    let server = Recorded::new(&tools.path(), tools.npm(PROGRAM), ["stdio"]);
    twice(&server, Discovery::Error(-32601), async |upstream| {
        check_offers(upstream).await;
        check_conversation(upstream).await;
    })
    .await;
}

#[tokio::test]
async fn over_streamable_http() {
    let Some(tools) = Tools::find() else { return };
    let (_listening, tap) = everything(&tools, "streamableHttp").await;
    let negotiated = Negotiated {
        version: ProtocolVersion::NEWEST_LEGACY,
        transport: TransportKind::StreamableHttp,
    };
    for remembered in [None, Some(negotiated)] {
        let transport = Transport::Auto(endpoint(&tap.url("/mcp")));
        let (upstream, _ear) = connect(target(transport), remembered).await.unwrap();
        assert_eq!(upstream.negotiated(), negotiated);
        assert_eq!(
            tap.take_methods(),
            opening(remembered.is_some(), ProtocolVersion::NEWEST_LEGACY)
        );
        check_offers(&upstream).await;
        check_conversation(&upstream).await;
        upstream.close().await;
        tap.take_methods();
    }
}

#[tokio::test]
async fn over_sse() {
    let Some(tools) = Tools::find() else { return };
    let (_listening, tap) = everything(&tools, "sse").await;
    let negotiated = Negotiated {
        version: ProtocolVersion::NEWEST_LEGACY,
        transport: TransportKind::Sse,
    };
    // Named, found out, and remembered: only finding out asks `server/discover`, of a path that takes no POST.
    let url = tap.url("/sse");
    let cases = [
        (Transport::Sse(endpoint(&url)), None, 0),
        (Transport::Auto(endpoint(&url)), None, 1),
        (Transport::Auto(endpoint(&url)), Some(negotiated), 0),
    ];
    for (transport, remembered, probes) in cases {
        let (upstream, _ear) = connect(target(transport), remembered).await.unwrap();
        assert_eq!(upstream.negotiated(), negotiated);
        let sent = tap.take_methods();
        let discovers = sent.iter().filter(|method| *method == "server/discover").count();
        assert_eq!(discovers, probes, "{sent:?}");
        check_offers(&upstream).await;
        check_conversation(&upstream).await;
        upstream.close().await;
        tap.take_methods();
    }
}

#[tokio::test]
async fn definitions_are_the_same_bytes_on_every_transport() {
    let Some(tools) = Tools::find() else { return };
    let stdio = Recorded::new(&tools.path(), tools.npm(PROGRAM), ["stdio"]);
    let (http, sse) = tokio::join!(everything(&tools, "streamableHttp"), everything(&tools, "sse"));
    let transports = [
        stdio.session().0,
        Transport::StreamableHttp(endpoint(&http.1.url("/mcp"))),
        Transport::Sse(endpoint(&sse.1.url("/sse"))),
    ];
    let mut seen = Vec::new();
    for transport in transports {
        let (upstream, _ear) = connect(target(transport), None).await.unwrap();
        let mut lists = Vec::new();
        for kind in [Kind::Tools, Kind::Prompts, Kind::Templates] {
            lists.push(list(&upstream, kind).await);
        }
        seen.push(lists);
        upstream.close().await;
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

/// The server asks for the client's roots by itself, some time after the session began.
#[tokio::test]
async fn a_question_outside_any_call_reaches_the_listener() {
    let Some(tools) = Tools::find() else { return };
    let stdio = Recorded::new(&tools.path(), tools.npm(PROGRAM), ["stdio"]);
    let (_http, tap) = everything(&tools, "streamableHttp").await;
    let transports = [
        stdio.session().0,
        Transport::StreamableHttp(endpoint(&tap.url("/mcp"))),
    ];
    for transport in transports {
        let (upstream, ear) = connect(target(transport), None).await.unwrap();
        ear.wait_for("roots/list").await;
        upstream.close().await;
    }
}
