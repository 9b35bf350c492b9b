//! What only HTTP can do wrong with an answer.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use testkit::hostile::{Plan, Script, Way};
use testkit::scripted::{Received, Reply, Step};

use super::bench::{ANSWERED, Bench, Case, Ends, INVALID, LOST, SILENT, TOO_LARGE};

fn calls(name: &str, answer: impl Fn(&Received) -> Reply + Send + Sync + 'static, ends: Ends) -> Case {
    let http = move |request: &Received| {
        (request.rpc_method().as_deref() == Some("tools/call")).then(|| answer(request))
    };
    let plan = Plan {
        script: Script::default(),
        http: Some(Arc::new(http)),
    };
    Case::new(name, plan, ends).over(&[Way::Events, Way::Json, Way::Modern])
}

fn text(request: &Received) -> String {
    json!({ "jsonrpc": "2.0", "id": request.json()["id"], "result": { "resultType": "complete", "content": [] } }).to_string()
}

fn json_of(body: impl Into<bytes::Bytes>) -> Reply {
    Reply::bytes(200, body).header("content-type", "application/json")
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub(super) fn bodies() -> Vec<Case> {
    vec![
        calls(
            "closes within the body",
            |request| {
                let body = text(request);
                json_of(body[..20].to_owned())
                    .header("content-length", &body.len().to_string())
                    .then(Step::Pause(Duration::from_millis(5)))
                    .then(Step::Break)
            },
            LOST,
        ),
        calls(
            "drips its answer and gets there",
            |request| {
                Reply::drip(
                    &serde_json::from_str(&text(request)).unwrap(),
                    5,
                    Duration::from_millis(2),
                )
            },
            ANSWERED,
        ),
        calls(
            "drips its answer and does not get there",
            |request| {
                Reply::drip(
                    &serde_json::from_str(&text(request)).unwrap(),
                    1,
                    Duration::from_millis(60),
                )
            },
            SILENT,
        ),
        calls(
            "drips a refusal",
            |_| {
                let body = Reply::status(503);
                (0..1_000).fold(body, |body, _| {
                    body.then(Step::Bytes("no ".into()))
                        .then(Step::Pause(Duration::from_millis(20)))
                })
            },
            SILENT,
        ),
        calls("an empty body", |_| json_of(""), INVALID).but(&[Way::Events], SILENT),
        calls("accepted and no answer", |_| Reply::status(202), INVALID).but(&[Way::Events], SILENT),
        calls("no content", |_| Reply::status(204), INVALID).but(&[Way::Events], SILENT),
        calls(
            "a page",
            |_| Reply::bytes(200, "<html>Sign in</html>").header("content-type", "text/html"),
            INVALID,
        ),
        calls(
            "JSON under another name",
            |request| Reply::bytes(200, text(request)).header("content-type", "text/plain"),
            ANSWERED,
        ),
        calls(
            "JSON under no name",
            |request| Reply::bytes(200, text(request)),
            ANSWERED,
        ),
        calls(
            "says that it is compressed",
            |request| json_of(text(request)).header("content-encoding", "gzip"),
            INVALID,
        ),
        calls(
            "says that it is very long",
            |_| json_of("{").header("content-length", "90000000").then(Step::Hang),
            TOO_LARGE,
        ),
        calls(
            "a head of 100 KB",
            |request| {
                (0..100).fold(json_of(text(request)), |reply, n| {
                    reply.header(&format!("x-filler-{n}"), &"x".repeat(1_000))
                })
            },
            TOO_LARGE,
        ),
        calls(
            "a stream without an answer",
            |_| Reply::events([]).then(Step::keep_alive()),
            LOST,
        ),
        calls(
            "an event of 20 MB",
            |_| {
                Reply::events([]).then(Step::Bytes(
                    format!("data: {}\n\n", "x".repeat(20_000_000)).into(),
                ))
            },
            TOO_LARGE,
        ),
        calls(
            "a stream that asks to come back at once",
            |request| {
                let beginning = "id: 1\nretry: 1\ndata:\n\n";
                match request.method {
                    http::Method::GET => Reply::status(405),
                    _ => Reply::events([]).then(Step::Bytes(beginning.into())),
                }
            },
            LOST,
        )
        // Its standing stream takes the place of the one that ended, and is silent.
        .over(&[Way::Events, Way::Modern])
        .but(&[Way::Events], SILENT),
        calls("closes at once", |_| Reply::close(), LOST),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_http_can_do_wrong() {
    let cases = bodies();
    let bench = Bench::start(&cases).await;
    bench.check_all().await;
}
