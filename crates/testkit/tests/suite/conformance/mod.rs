//! The official conformance suite in both roles. Scenarios under `auth/` wait for the OAuth client.

mod authority;
mod run;
mod server;

use run::Suite;
use testkit::elder::Elder;
use testkit::fixture::Fixture;

/// What every client of the revision has to pass, and what the suite shows without scoring it.
fn check(revision: &str, scored: &[&str], unscored: &[&str]) {
    let Some(suite) = Suite::find() else { return };
    // A newer suite may ask for more.
    let mut required = suite.required_of_clients(revision);
    required.retain(|scenario| !scenario.starts_with("auth/"));
    assert_eq!(required, scored);

    let (mut passed, mut failures) = (0, Vec::new());
    for scenario in scored.iter().chain(unscored) {
        let outcome = suite.play(scenario, revision);
        passed += outcome.passed;
        failures.extend(outcome.failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    eprintln!(
        "{revision}: {} scenarios, {passed} checks passed",
        scored.len() + unscored.len()
    );
}

#[test]
fn client_2025_11_25() {
    check(
        "2025-11-25",
        &[
            "initialize",
            "tools_call",
            "elicitation-sep1034-client-defaults",
            "sse-retry",
        ],
        &["json-schema-2020-12-preservation"],
    );
}

#[test]
fn client_2026_07_28() {
    check(
        "2026-07-28",
        &[
            "tools_call",
            "request-metadata",
            "sep-2322-client-request-state",
            "http-standard-headers",
            "http-custom-headers",
            "http-invalid-tool-headers",
            "json-schema-ref-no-deref",
        ],
        &["json-schema-2020-12-preservation"],
    );
}

// V061 V064
#[tokio::test]
async fn server_2025_11_25() {
    let fixture = Fixture::start().await.unwrap();
    server::check("2025-11-25", &fixture.url).await;
}

#[tokio::test]
async fn server_2025_11_25_before_a_server_of_that_time() {
    let fixture = Fixture::start().await.unwrap();
    let elder = Elder::of(&fixture.url).await.unwrap();
    server::check("2025-11-25", &elder.url).await;
}

#[tokio::test]
async fn server_2026_07_28() {
    let fixture = Fixture::start().await.unwrap();
    server::check("2026-07-28", &fixture.url).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn authorization_server() {
    authority::check().await;
}
