//! What servers may do while they are called, over every transport.

use serde_json::json;
use testkit::hostile::{Plan, Say, Script, Way};

use super::bench::{ANSWERED, Bench, Case, Ends, INVALID, LOST, REFUSED, SILENT, TOO_LARGE};

fn calls(name: &str, says: impl Into<Vec<Say>>, ends: Ends) -> Case {
    scripted(name, Script::calls(says), ends)
}

fn scripted(name: &str, script: Script, ends: Ends) -> Case {
    let plan = Plan { script, http: None };
    Case::new(name, plan, ends)
}

fn done() -> Say {
    Say::Result(json!({ "resultType": "complete", "content": [{ "type": "text", "text": "done" }] }))
}

fn message(method: &str, params: serde_json::Value) -> Say {
    Say::Message(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn progress() -> Say {
    message(
        "notifications/progress",
        json!({ "progressToken": "$token", "progress": 1, "message": "still at it" }),
    )
}

const STREAMS: &[Way] = &[Way::Stdio, Way::Sse, Way::Events, Way::Modern];
const OWN_STREAMS: &[Way] = &[Way::Events, Way::Modern];

/// Servers that say nothing, too little, or nothing to the point.
pub(super) fn silent() -> Vec<Case> {
    vec![
        calls("never answers", [Say::Hang], SILENT),
        calls(
            "keep-alives for ever",
            [Say::Times(300, vec![Say::Comment, Say::Pause(10)]), Say::Hang],
            SILENT,
        ),
        calls(
            "progress for ever",
            [Say::Times(300, vec![progress(), Say::Pause(10)]), Say::Hang],
            SILENT,
        )
        .over(STREAMS),
        calls(
            "drips bytes",
            [
                Say::Times(70, vec![Say::Part("x".to_owned()), Say::Pause(10)]),
                Say::Part("\n\n".to_owned()),
                Say::Hang,
            ],
            SILENT,
        ),
        calls(
            "answers another request only",
            [
                Say::Message(json!({ "jsonrpc": "2.0", "id": 999_999, "result": {} })),
                Say::Hang,
            ],
            SILENT,
        )
        .over(STREAMS),
        calls(
            "answers nobody only",
            [
                Say::Message(json!({ "jsonrpc": "2.0", "id": null, "result": {} })),
                Say::Hang,
            ],
            SILENT,
        )
        .over(STREAMS),
        scripted(
            "answers after it was cancelled",
            Script::calls([Say::Hang]).when(
                "notifications/cancelled",
                [Say::Message(
                    json!({ "jsonrpc": "2.0", "id": "$cancelled", "result": { "content": [] } }),
                )],
            ),
            SILENT,
        )
        .over(&[Way::Stdio, Way::Sse, Way::Events]),
        calls("answers too late", [Say::Pause(700), done()], SILENT),
    ]
}

/// Answers that are too large, or no answers.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub(super) fn malformed() -> Vec<Case> {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":$id,"result":{{"content":[],"x":{}{}}}}}"#,
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    let line = |name: &str, text: &str, ends: Ends| calls(name, [Say::Line(text.to_owned())], ends);
    vec![
        // Where all answers come on one stream, what cannot be told apart from the next ends the stream.
        calls("a result of 20 MB", [Say::Text(20_000_000)], TOO_LARGE).but(&[Way::Sse], LOST),
        calls(
            "a line of 16 MB before the answer",
            [Say::Filler(16 * 1024 * 1024 + 1), done()],
            TOO_LARGE,
        )
        .but(&[Way::Sse], LOST)
        .but(&[Way::Stdio], ANSWERED),
        calls(
            "bytes that are no text before the answer",
            [Say::Bytes(vec![0xff, 0xfe, 0x00, 0xc3]), done()],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "bytes that are no text in place of JSON",
            [Say::Bytes(vec![0xff, 0xfe, 0x00, 0xc3])],
            INVALID,
        )
        .over(&[Way::Json]),
        line(
            "an answer cut off",
            r#"{"jsonrpc":"2.0","id":$id,"result":{"content":["#,
            INVALID,
        ),
        line(
            "neither result nor error",
            r#"{"jsonrpc":"2.0","id":$id}"#,
            INVALID,
        ),
        line(
            "a result that is a list",
            r#"{"jsonrpc":"2.0","id":$id,"result":[1,2]}"#,
            INVALID,
        ),
        line(
            "a result that is a text",
            r#"{"jsonrpc":"2.0","id":$id,"result":"done"}"#,
            INVALID,
        ),
        line(
            "a result that is null",
            r#"{"jsonrpc":"2.0","id":$id,"result":null}"#,
            INVALID,
        ),
        line(
            "a number that is none",
            r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[],"x":NaN}}"#,
            INVALID,
        ),
        line(
            "an error that is a text",
            r#"{"jsonrpc":"2.0","id":$id,"error":"no"}"#,
            REFUSED,
        ),
        line("JSON of 20,000 levels", &deep, INVALID),
        line("no version", r#"{"id":$id,"result":{"content":[]}}"#, ANSWERED),
        line(
            "its own version",
            r#"{"jsonrpc":"1.0","id":$id,"result":{"content":[]}}"#,
            ANSWERED,
        ),
        line(
            "the id as a text",
            r#"{"jsonrpc":"2.0","id":"$id","result":{"content":[]}}"#,
            ANSWERED,
        ),
        line(
            "in a batch",
            r#"[{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}]"#,
            ANSWERED,
        ),
        line(
            "a method that is a number",
            r#"{"jsonrpc":"2.0","method":7}"#,
            INVALID,
        )
        .over(&[Way::Json]),
        line("nothing but a list", "[]", INVALID).over(&[Way::Json]),
    ]
}

/// Answers beside which something is wrong.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub(super) fn odd() -> Vec<Case> {
    vec![
        calls("answers twice", [done(), done(), done()], ANSWERED).over(STREAMS),
        calls(
            "answers another request as well",
            [Say::Message(json!({ "jsonrpc": "2.0", "id": 999_999, "result": {} })), done()],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "an error to nobody, then the answer",
            [Say::Message(json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "?" } })), done()],
            ANSWERED,
        )
        .over(STREAMS)
        .but(OWN_STREAMS, REFUSED),
        calls(
            "an answer to nobody, then the answer",
            [Say::Message(json!({ "jsonrpc": "2.0", "id": null, "result": {} })), done()],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "asks what does not exist",
            [Say::Message(json!({ "jsonrpc": "2.0", "id": "q", "method": "no/such", "params": {} })), done()],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "asks a thousand things",
            [
                Say::Times(
                    1_000,
                    vec![Say::Message(json!({ "jsonrpc": "2.0", "id": "q", "method": "roots/list", "params": {} }))],
                ),
                done(),
            ],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "pings a thousand times",
            [
                Say::Times(1_000, vec![Say::Message(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }))]),
                done(),
            ],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "a flood of progress",
            [Say::Times(1_000, vec![progress()]), done()],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "a flood of log messages",
            [
                Say::Times(
                    1_000,
                    vec![message("notifications/message", json!({ "level": "error", "data": "again" }))],
                ),
                done(),
            ],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "a flood of news of its lists",
            [
                Say::Times(500, vec![message("notifications/tools/list_changed", json!({}))]),
                done(),
            ],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "lines that are no JSON",
            [Say::Line("Listening on port 3000".to_owned()), Say::Line("{".to_owned()), Say::Line("null".to_owned()), done()],
            ANSWERED,
        )
        .over(STREAMS),
        calls(
            "content of unknown types",
            [Say::Result(json!({ "resultType": "complete", "content": [{ "type": "hologram", "depth": 3 }, { "type": 7 }, "text"] }))],
            ANSWERED,
        )
        .saying("hologram"),
        calls(
            "content that is none",
            [Say::Result(json!({ "resultType": "complete", "content": "not a list", "structuredContent": [1] }))],
            ANSWERED,
        )
        .saying("not a list"),
        calls(
            "an unknown result type",
            [Say::Result(json!({ "resultType": "poem", "content": [] }))],
            ANSWERED,
        ),
        calls(
            "an error with a large message",
            [Say::Error(-32_000, "no ".repeat(20_000))],
            REFUSED,
        ),
        calls("dies", [Say::End], LOST),
        calls(
            "dies within its answer",
            [Say::Part(r#"{"jsonrpc":"2.0","id":$id,"#.to_owned()), Say::End],
            LOST,
        ),
        calls("answers and dies", [done(), Say::Pause(500), Say::End], ANSWERED).over(STREAMS),
    ]
}

/// Children that misbehave as processes.
pub(super) fn processes() -> Vec<Case> {
    const CHILD: &[Way] = &[Way::Stdio];
    let ignoring = ["--ignore-sigterm", "--ignore-eof"];
    vec![
        calls("ignores SIGTERM and is silent", [Say::Hang], SILENT)
            .over(CHILD)
            .flags(&ignoring),
        calls("ignores SIGTERM and dies", [Say::End], LOST)
            .over(CHILD)
            .flags(&ignoring),
        calls("floods stderr", [done()], ANSWERED).over(CHILD).flags(&[
            "--flood-stderr",
            "3000000",
            "--flood-each",
            "3000000",
        ]),
        calls("floods stderr and dies", [Say::End], LOST)
            .over(CHILD)
            .flags(&["--flood-each", "3000000"]),
    ]
}

/// Every behaviour.
pub(super) fn all() -> Vec<Case> {
    [silent(), malformed(), odd(), processes()]
        .into_iter()
        .flatten()
        .collect()
}

async fn check(cases: Vec<Case>) {
    let bench = Bench::start(&cases).await;
    bench.check_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_has_an_end() {
    check(silent()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_answer_fails_its_call_and_nothing_else() {
    check(malformed()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_odd_beside_an_answer_is_survived() {
    check(odd()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_misbehave_for_themselves() {
    check(processes()).await;
}
