//! Servers that misbehave when a session is opened: no call is sent, and it is said why.

use serde_json::json;
use testkit::hostile::{Plan, Say, Script, Way};

use super::bench::{Bench, Case, Ends, UNREACHED};

fn opens(name: &str, says: impl Into<Vec<Say>>, ends: Ends) -> Case {
    let says = says.into();
    let script = Script::default()
        .when("initialize", says.clone())
        .when("server/discover", says);
    Case::new(name, Plan { script, http: None }, ends).opening()
}

pub(super) fn openings() -> Vec<Case> {
    let mut never = opens("never answers the opening", [Say::Hang], UNREACHED);
    never.timeout_ms = super::bench::IMPATIENT;
    vec![
        never,
        opens("dies at the opening", [Say::End], UNREACHED),
        opens(
            "refuses the opening",
            [Say::Error(-32_000, "not today".to_owned())],
            UNREACHED,
        )
        .saying("not today"),
        opens(
            "speaks no version we know",
            [Say::Result(json!({
            "protocolVersion": "1999-01-01", "supportedVersions": ["1999-01-01"], "capabilities": {},
            "serverInfo": { "name": "old", "version": "0" } }))],
            UNREACHED,
        )
        .saying("1999-01-01"),
        opens(
            "opens with a list",
            [Say::Line(r#"{"jsonrpc":"2.0","id":$id,"result":[]}"#.to_owned())],
            UNREACHED,
        ),
        opens(
            "opens with what is no JSON",
            [Say::Line(r#"{"jsonrpc":"2.0","id":$id,"result":{"#.to_owned())],
            UNREACHED,
        ),
        opens("opens with 20 MB", [Say::Text(20_000_000)], UNREACHED).over(&[
            Way::Stdio,
            Way::Events,
            Way::Json,
            Way::Modern,
        ]),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_open_is_not_called() {
    let cases = openings();
    let bench = Bench::start(&cases).await;
    bench.check_all().await;
}
