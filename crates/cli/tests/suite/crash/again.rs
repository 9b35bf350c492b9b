//! Requests with an idempotency key that are repeated after the server was killed in the middle of them.

use http::Method;
use serde_json::{Value, json};
use testkit::http::{Answer, send};

use crate::house::House;
use crate::scene::{Kind, Scene};

/// Which write the request is stopped at, and what its repeat is told.
struct Case {
    table: Option<&'static str>,
    status: u16,
    code: Option<&'static str>,
    /// Agents of that name afterwards.
    made: usize,
}

const fn case(table: Option<&'static str>, status: u16, code: Option<&'static str>, made: usize) -> Case {
    Case {
        table,
        status,
        code,
        made,
    }
}

async fn make(url: &str, key: &str, handle: &str) -> Option<Answer> {
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("idempotency-key", handle),
    ];
    let body = json!({ "handle": handle, "description": "" }).to_string();
    send(Method::POST, &format!("{url}/api/v1/agents"), &headers, body)
        .await
        .ok()
}

fn named(house: &House, handle: &str) -> usize {
    let agents: Value = house.json(&["agents", "list"]);
    let items = agents["items"].as_array().unwrap();
    items.iter().filter(|agent| agent["handle"] == handle).count()
}

async fn check(scene: &mut Scene, (number, case): (usize, &Case)) {
    let handle = format!("agent-{number}");
    let (url, key) = (scene.house.url.clone(), scene.house.admin.clone());
    let asked = {
        let handle = handle.clone();
        async move { make(&url, &key, &handle).await }
    };
    match case.table {
        None => assert_eq!(asked.await.unwrap().status.as_u16(), 201),
        Some(table) => {
            let held = scene.database.hold(table).await.unwrap();
            let asked = tokio::spawn(asked);
            if table == "journal" {
                // What waits for the journal may also be the end of something read before: the request itself has come so far once
                // it is claimed.
                until_claimed(scene, &handle).await;
            }
            scene.until_it_waits(&held).await;
            scene.house.kill();
            scene.database.end_others().await.unwrap();
            held.release().await.unwrap();
            assert!(asked.await.unwrap().is_none());
        }
    }
    if case.table.is_none() {
        scene.house.kill();
    }
    scene.house.again();
    let answer = make(&scene.house.url, &scene.house.admin, &handle).await.unwrap();
    let what = format!("{:?} {:?}: {answer:?}", scene.kind, case.table);
    assert_eq!(answer.status.as_u16(), case.status, "{what}");
    assert_eq!(answer.json()["code"].as_str(), case.code, "{what}");
    assert_eq!(
        answer.headers.contains_key("idempotent-replayed"),
        case.table.is_none(),
        "{what}"
    );
    assert_eq!(named(&scene.house, &handle), case.made, "{what}");
    scene.verify(None);
}

async fn until_claimed(scene: &Scene, key: &str) {
    let claimed = format!("SELECT count(*) FROM requests WHERE key = '{key}'");
    scene
        .until_told("the request is claimed", async || {
            (scene.database.number(&claimed).await.unwrap() == 1).then_some(())
        })
        .await;
}

async fn checks(kind: Kind, cases: &[Case]) {
    let Some(mut scene) = Scene::start(kind, "").await else {
        return;
    };
    for case in cases.iter().enumerate() {
        check(&mut scene, case).await;
    }
}

mod sqlite {
    use super::{Kind, case, checks};

    #[tokio::test(flavor = "multi_thread")]
    async fn repeats_after_a_kill_happen_once() {
        let cases = [case(None, 201, None, 1), case(Some("all"), 201, None, 1)];
        checks(Kind::Sqlite, &cases).await;
    }
}

mod postgres {
    use super::{Kind, case, checks};

    #[tokio::test(flavor = "multi_thread")]
    async fn repeats_after_a_kill_happen_once() {
        let cases = [
            case(None, 201, None, 1),
            case(Some("requests"), 201, None, 1),
            // It was claimed: for as long as somebody may still be at work on it, nobody else is.
            case(Some("journal"), 409, Some("idempotency.in_progress"), 0),
        ];
        checks(Kind::Postgres, &cases).await;
    }
}
