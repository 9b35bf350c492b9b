//! Two processes on one PostgreSQL: a sign-in begun at one and finished at the other, and one renewal for both. V128.

use futures::future::join_all;
use http::{Method, StatusCode};
use serde_json::json;

use super::guarded::Guarded;
use super::{Configured, SignIn, back, call, configured, open, rest, text};
use crate::house::House;
use crate::scene::Kind;

#[tokio::test(flavor = "multi_thread")]
async fn one_account_for_both() {
    let guarded = Guarded::start(None).await;
    let Some(Configured {
        database,
        folder,
        start,
    }) = configured(Kind::Postgres, &guarded, &[]).await
    else {
        return;
    };
    let house = House::start_as(folder, start.clone());
    let other = house.moved(tempfile::tempdir().unwrap(), start);
    let scene = SignIn {
        house,
        guarded,
        database,
    };
    let add = json!({ "label": "guarded", "url": scene.guarded.url(), "transport": "streamable_http",
        "trusted": true, "auth": { "type": "oauth" } });
    let added = scene.rest(Method::POST, "/connections", &add).await;
    assert_eq!(added.status, StatusCode::CREATED, "{}", added.json());
    // Begun at one, gone through at the other, and back at the first.
    let begun = scene.begin().await;
    let (url, cookie) = open(&other, &begun).await;
    let landed = back(&scene.house, &scene.answer(&url, "code=c"), &cookie).await;
    assert_eq!(landed.status, StatusCode::OK, "{}", text(&landed));
    scene.until_ready();
    let known = rest(
        &other,
        &other.admin,
        (Method::GET, "/connections/guarded"),
        &json!(null),
    )
    .await;
    assert_eq!(
        known.json()["auth"]["account"]["status"],
        "connected",
        "{}",
        known.json()
    );
    let well = ("succeeded".to_owned(), None);
    assert_eq!(scene.call("read").await, well);
    scene
        .until_told("the other knows its tools", async || {
            call(&other, "read").await == well
        })
        .await;
    for round in 2..=4 {
        let asked = scene.guarded.asked().len();
        scene.guarded.revoke();
        let calls = (0..40).map(|n| call(if n % 2 == 0 { &scene.house } else { &other }, "read"));
        let outcomes = join_all(calls).await;
        assert!(
            outcomes.iter().all(|outcome| *outcome == well),
            "{round}: {outcomes:?}"
        );
        assert_eq!(
            scene.guarded.asked().len(),
            asked + 1,
            "one renewal for both, round {round}"
        );
    }
}
