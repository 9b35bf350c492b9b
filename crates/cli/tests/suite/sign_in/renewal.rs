//! Tokens after the first: renewed once for all who need one, and what may change something is never sent twice.

use futures::future::join_all;
use http::StatusCode;
use serde_json::json;

use super::{SignIn, standing, text};
use crate::scene::Kind;

fn outcome(code: &str) -> (String, Option<String>) {
    ("failed".to_owned(), Some(code.to_owned()))
}

fn well() -> (String, Option<String>) {
    ("succeeded".to_owned(), None)
}

/// Requests for tokens with a refresh token, and those tokens.
fn renewals(scene: &SignIn) -> Vec<String> {
    let token = |form: Vec<(String, String)>| {
        let found = form.into_iter().find(|(name, _)| name == "refresh_token");
        found.map(|(_, value)| value)
    };
    scene.guarded.asked().into_iter().filter_map(token).collect()
}

async fn a_token_refused_before_its_time(kind: Kind) {
    let Some(scene) = SignIn::signed_in(kind).await else {
        return;
    };
    assert_eq!(scene.call("read").await, well());
    // Fifty at once while the token endpoint takes its time: one request, and each is sent again once.
    scene.guarded.revoke();
    let gate = scene.guarded.hold();
    let calls = join_all((0..50).map(|_| scene.call("read")));
    let release = async {
        scene
            .until("the token endpoint was asked", || renewals(&scene).len() == 1)
            .await;
        gate.cancel();
    };
    let (outcomes, ()) = futures::future::join(calls, release).await;
    assert!(outcomes.iter().all(|outcome| *outcome == well()), "{outcomes:?}");
    assert_eq!(renewals(&scene), ["rt-1"]);
    let mut calls = scene.guarded.calls();
    calls.retain(|credential| credential == "Bearer at-2");
    assert_eq!(calls.len(), 50, "each went through once");
    // What may change something is reported, not sent again; the next one has the new token.
    scene.guarded.revoke();
    let before = scene.guarded.calls().len();
    assert_eq!(scene.call("write").await, outcome("auth_rejected"));
    assert_eq!(scene.guarded.calls().len(), before + 1);
    scene
        .until("the token was renewed", || renewals(&scene).len() == 2)
        .await;
    scene
        .until_told("it is in use", async || scene.call("write").await == well())
        .await;
    assert_eq!(renewals(&scene), ["rt-1", "rt-2"]);
    // A server that takes no token at all is not asked for ever.
    scene.guarded.answer(json!({ "access_token": "of no use" }));
    scene.guarded.revoke();
    let before = scene.guarded.calls().len();
    assert_eq!(scene.call("read").await, outcome("auth_rejected"));
    assert_eq!(scene.guarded.calls().len(), before + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    a_token_refused_before_its_time(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    a_token_refused_before_its_time(Kind::Postgres).await;
}

/// The refresh token is taken back: red, with words; nobody asks again until a person has signed in. O048, O049, I057.
#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_is_taken_back() {
    let mut scene = SignIn::signed_in(Kind::Sqlite).await.unwrap();
    assert_eq!(scene.call("read").await, well());
    // What may pass is no reason to give up the account.
    scene.guarded.revoke();
    scene.guarded.refuse(Some((503, json!({}))));
    assert_eq!(scene.call("read").await, outcome("auth_rejected"));
    assert_eq!(scene.shown().await["auth"]["account"]["status"], "connected");
    for code in ["invalid_grant", "invalid_request"] {
        let refusal = json!({ "error": code, "error_description": "the refresh token was revoked" });
        scene.guarded.refuse(Some((400, refusal)));
        assert_eq!(scene.call("read").await, outcome("auth_rejected"), "{code}");
        scene
            .until_told("it is seen to need a person", async || {
                let shown = scene.shown().await;
                shown["health_code"] == "sign_in_required"
            })
            .await;
        let shown = scene.shown().await;
        assert_eq!(
            standing(&shown),
            "reauthorization_required, configured red",
            "{shown}"
        );
        assert_eq!(shown["auth"]["account"]["error_code"], "grant_gone");
        assert!(
            shown["health_detail"]
                .as_str()
                .unwrap()
                .contains("a person has to sign in again"),
            "{shown}"
        );
        let asked = renewals(&scene).len();
        assert_eq!(scene.call("read").await, outcome("auth_rejected"));
        assert_eq!(renewals(&scene).len(), asked, "nobody asks again");
        // After a restart either.
        scene.house.stop();
        scene.house.again();
        assert_eq!(scene.call("read").await, outcome("auth_rejected"));
        assert_eq!(renewals(&scene).len(), asked);
        scene.guarded.refuse(None);
        let back = scene.sign_in().await;
        assert_eq!(back.status, StatusCode::OK, "{}", text(&back));
        scene
            .until_told("it works again", async || scene.call("read").await == well())
            .await;
        scene
            .until_told("it is seen to work", async || {
                scene.shown().await["light"] == "green"
            })
            .await;
        scene.guarded.revoke();
    }
}

/// A server that wants more for one tool: the account goes on working for the others, and the next sign-in asks for more.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_good_for_less() {
    let scene = SignIn::signed_in(Kind::Sqlite).await.unwrap();
    scene.guarded.demand(Some("tools:call admin"));
    assert_eq!(scene.call("write").await, outcome("auth_rejected"));
    assert_eq!(scene.guarded.calls().len(), 1, "it is not sent again");
    scene
        .until_told("what it lacks is noted", async || {
            scene.shown().await["auth"]["account"]["error_code"] == "insufficient_scope"
        })
        .await;
    let shown = scene.shown().await;
    assert_eq!(shown["auth"]["account"]["status"], "connected", "{shown}");
    assert_eq!(scene.call("read").await, well());
    assert!(
        renewals(&scene).is_empty(),
        "another token would be good for no more"
    );
    let begun = scene.begin().await;
    assert_eq!(
        begun["requested_scopes"],
        json!(["tools:read", "tools:call", "admin"]),
        "{begun}"
    );
    scene.guarded.demand(None);
    let (url, cookie) = scene.open(&begun).await;
    assert_eq!(super::parameter(&url, "scope"), "tools:read tools:call admin");
    let back = scene.back(&scene.answer(&url, "code=c"), &cookie).await;
    assert_eq!(back.status, StatusCode::OK, "{}", text(&back));
    scene
        .until_told("it works", async || scene.call("write").await == well())
        .await;
    let account = &scene.shown().await["auth"]["account"];
    assert!(account["error_code"].is_null(), "{account}");
}

/// No refresh token: when the token is refused there is no other, which is said and not asked for. A token without an end is taken
/// where a person said so, and is not shown as lapsed.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_a_next_one() {
    let guarded = super::guarded::Guarded::start(None).await;
    guarded.answer(json!({ "refresh_token": null, "expires_in": null }));
    let auth = json!({ "type": "oauth", "unreported_lifetime": true });
    let scene = SignIn::start(Kind::Sqlite, guarded, &[], auth).await.unwrap();
    let back = scene.sign_in().await;
    assert_eq!(back.status, StatusCode::OK, "{}", text(&back));
    scene.until_ready();
    assert_eq!(scene.call("read").await, well());
    let shown = scene.shown().await;
    assert_eq!(standing(&shown), "connected, configured green", "{shown}");
    assert!(shown["auth"]["account"]["expires_at"].is_null(), "{shown}");
    scene.guarded.revoke();
    assert_eq!(scene.call("read").await, outcome("auth_rejected"));
    assert!(renewals(&scene).is_empty());
    let shown = scene.shown().await;
    assert_eq!(standing(&shown), "expired, configured red", "{shown}");
}
