//! What each role may do, and that a change of it holds at once.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{OWNER, PASSWORD, Person, accept, owner, sign_in, text};
use crate::house::House;
use crate::scene::{Kind, Scene};
use crate::sign_in::rest;

#[tokio::test(flavor = "multi_thread")]
async fn people_are_invited_and_change() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(scene) = Scene::start(kind, "").await else {
            continue;
        };
        people(&scene.house).await;
    }
}

async fn admin(house: &House, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
    let answer = rest(house, &house.admin, (method, path), &body).await;
    let said = if answer.body.is_empty() {
        Value::Null
    } else {
        answer.json()
    };
    (answer.status, said)
}

async fn invited(house: &House, email: &str, role: &str) -> Person {
    let wanted = json!({ "email": email, "role": role });
    let (status, made) = admin(house, Method::POST, "/members", wanted).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let (_, token) = made["url"].as_str().unwrap().rsplit_once('/').unwrap();
    // The address is the invitation's, whatever the form says.
    let fields = [
        ("email", "other@example.com"),
        ("name", "Invited"),
        ("password", PASSWORD),
    ];
    let person = accept(house, token, &fields).await;
    person.unwrap_or_else(|answer| panic!("{}", text(&answer)))
}

async fn people(house: &House) {
    owner(house).await;
    let viewer = invited(house, "viewer@example.com", "viewer").await;
    invited(house, "member@example.com", "member").await;
    let (_, listed) = admin(house, Method::GET, "/members", Value::Null).await;
    let shown: Vec<_> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| {
            (
                member["email"].as_str().unwrap(),
                member["role"].as_str().unwrap(),
            )
        })
        .collect();
    let want = [
        (OWNER, "owner"),
        ("viewer@example.com", "viewer"),
        ("member@example.com", "member"),
    ];
    assert_eq!(shown, want);
    let of = |at: usize| listed["items"][at].clone();
    let (first, second) = (of(0), of(1));
    beyond(house, (&first, &second)).await;
    taken(house).await;
    bites(house, &second, &viewer).await;
}

/// A key is nobody: it makes no Owner, changes none, and gives nothing in the whole organization.
async fn beyond(house: &House, (first, second): (&Value, &Value)) {
    let refused = [
        (
            Method::POST,
            "/members".to_owned(),
            json!({ "email": "x@example.com", "role": "owner" }),
        ),
        (
            Method::POST,
            "/members".to_owned(),
            json!({ "email": "x@example.com", "role": "viewer", "scope": "organization" }),
        ),
        (
            Method::DELETE,
            format!("/members/{}", first["id"].as_str().unwrap()),
            Value::Null,
        ),
        (
            Method::PATCH,
            format!("/members/{}", first["id"].as_str().unwrap()),
            json!({ "expected_version": 1, "enabled": false }),
        ),
        (
            Method::PATCH,
            format!("/members/{}", second["id"].as_str().unwrap()),
            json!({ "expected_version": 1, "role": "owner" }),
        ),
    ];
    for (method, path, body) in refused {
        let (status, said) = admin(house, method, &path, body.clone()).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path} {body}: {said}");
        assert_eq!(said["code"], "members.beyond_own_role", "{said}");
    }
}

/// One address, one person; an open invitation can be taken back, once.
async fn taken(house: &House) {
    let taken = json!({ "email": "Viewer@EXAMPLE.com", "role": "member" });
    let (status, said) = admin(house, Method::POST, "/members", taken).await;
    assert_eq!(status, StatusCode::CONFLICT, "{said}");
    let wanted = json!({ "email": "late@example.com", "role": "viewer" });
    let (_, made) = admin(house, Method::POST, "/members", wanted).await;
    let path = format!("/invitations/{}", made["id"].as_str().unwrap());
    for want in [StatusCode::NO_CONTENT, StatusCode::NOT_FOUND] {
        let (status, said) = admin(house, Method::DELETE, &path, Value::Null).await;
        assert_eq!(status, want, "{said}");
    }
    let (_, token) = made["url"].as_str().unwrap().rsplit_once('/').unwrap();
    let fields = [("name", "Late"), ("password", PASSWORD)];
    assert_eq!(
        accept(house, token, &fields).await.unwrap_err().status,
        StatusCode::NOT_FOUND
    );
    let (_, open) = admin(house, Method::GET, "/invitations", Value::Null).await;
    assert!(
        open["items"].as_array().unwrap().len() >= 4 && !open.to_string().contains("sb_invitation_"),
        "{open}"
    );
}

/// A change holds at once: of somebody switched off every browser is out, and the password opens nothing.
async fn bites(house: &House, second: &Value, viewer: &Person) {
    let account = format!("{}/account", house.url);
    assert!(text(&viewer.get(house, &account).await).contains("viewer"));
    let path = format!("/members/{}", second["id"].as_str().unwrap());
    let raise = json!({ "expected_version": 1, "role": "admin" });
    let (status, raised) = admin(house, Method::PATCH, &path, raise).await;
    assert_eq!(
        (status, &raised["role"]),
        (StatusCode::OK, &json!("admin")),
        "{raised}"
    );
    assert!(text(&viewer.get(house, &account).await).contains("<dd>admin</dd>"));
    let stale = json!({ "expected_version": 1, "enabled": false });
    assert_eq!(
        admin(house, Method::PATCH, &path, stale).await.0,
        StatusCode::CONFLICT
    );
    let off = json!({ "expected_version": 2, "enabled": false });
    assert_eq!(admin(house, Method::PATCH, &path, off).await.0, StatusCode::OK);
    assert_eq!(viewer.get(house, &account).await.status, StatusCode::SEE_OTHER);
    assert!(sign_in(house, "viewer@example.com", PASSWORD).await.is_err());
    assert_eq!(
        admin(house, Method::DELETE, &path, Value::Null).await.0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        admin(house, Method::GET, &path, Value::Null).await.0,
        StatusCode::NOT_FOUND
    );
}

/// On their page Owners do all of it, and one always stays.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_people() {
    let house = House::start(&["--no-sample"]);
    let page = format!("{}/people", house.url);
    let person = owner(&house).await;
    let invite = [
        ("email", "second@example.com"),
        ("role", "owner"),
        ("scope", "organization"),
    ];
    let shown = text(&person.post(&house, &page, &invite).await);
    let (_, rest) = shown.split_once("/invitations/").unwrap();
    let token = rest.split('<').next().unwrap();
    let second = accept(&house, token, &[("name", "Second"), ("password", PASSWORD)]).await;
    let second = second.unwrap_or_else(|answer| panic!("{}", text(&answer)));
    let listed = rest_members(&house).await;
    let id = |at: usize| listed[at]["id"].as_str().unwrap().to_owned();
    let (first_page, second_page) = (format!("{page}/{}", id(0)), format!("{page}/{}", id(1)));
    let lower = |version| {
        [
            ("act", "role"),
            ("role", "viewer"),
            ("scope", "organization"),
            ("version", version),
        ]
    };
    let done = second.post(&house, &first_page, &lower("1")).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", text(&done));
    let refused = second.post(&house, &second_page, &lower("1")).await;
    assert!(refused.status.is_client_error() && text(&refused).contains("make somebody else an Owner first"));
    let refused = second.post(&house, &second_page, &[("act", "remove")]).await;
    assert!(refused.status.is_client_error(), "{}", text(&refused));
    // Who only looks sees who there is, and nothing to press; nobody else sees anything.
    let seen = text(&person.get(&house, &page).await);
    assert!(
        seen.contains("second@example.com") && !seen.contains("<form"),
        "{seen}"
    );
    for fields in [&invite[..], &[("act", "remove")]] {
        let refused = person
            .post(
                &house,
                if fields.len() == 3 { &page } else { &second_page },
                fields,
            )
            .await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", text(&refused));
    }
    let away = super::browse(&house, "", &page).await;
    assert_eq!(away.status, StatusCode::SEE_OTHER);
}

async fn rest_members(house: &House) -> Vec<Value> {
    let (_, listed) = admin(house, Method::GET, "/members", Value::Null).await;
    listed["items"].as_array().unwrap().clone()
}

/// Who administers answers a question on its page, once; who only looks sees it.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_on_its_page() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(scene) = Scene::start(kind, "").await else {
            continue;
        };
        question(&scene).await;
    }
}

async fn question(scene: &Scene) {
    let house = &scene.house;
    let line = [
        "grants",
        "set",
        "default",
        "--connection",
        "up",
        "--tool",
        "write",
        "--permission",
        "ask",
    ];
    house.json(&line);
    let call = json!({ "name": "up__write", "arguments": { "note": "<b>a\u{202e}b</b>" } });
    let asked = rest(house, &house.agent, (Method::POST, "/tools/call"), &call)
        .await
        .json();
    assert_eq!(asked["status"], "waiting", "{asked}");
    let waiting = house.json(&["approvals", "list"]);
    let id = waiting["items"][0]["id"].as_str().unwrap();
    let page = format!("{}/approvals/{id}", house.url);
    let keyed = text(&super::browse(house, "", &page).await);
    assert!(keyed.contains(&format!("return_to=%2Fapprovals%2F{id}")) && !keyed.contains("up__write"));
    owner(house).await;
    let viewer = invited(house, "viewer@example.com", "viewer").await;
    let seen = text(&viewer.get(house, &page).await);
    assert!(
        seen.contains("wants to call up__write") && !seen.contains("<form"),
        "{seen}"
    );
    assert!(
        seen.contains("&lt;b&gt;a\\u{202e}b") && !seen.contains("<b>a"),
        "{seen}"
    );
    let yes = [("decision", "approved"), ("note", "fine")];
    let refused = viewer.post(house, &page, &yes).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", text(&refused));
    let person = owner(house).await;
    assert!(text(&person.get(house, &format!("{}/approvals", house.url)).await).contains("up__write"));
    let done = person.post(house, &page, &yes).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", text(&done));
    let again = person.post(house, &page, &[("decision", "denied")]).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{}", text(&again));
    let sent = rest(house, &house.agent, (Method::POST, "/tools/call"), &call)
        .await
        .json();
    assert_eq!(sent["status"], "succeeded", "{sent}");
    let shown = house.json(&["approvals", "list", "--state", "spent"]);
    assert!(
        shown["items"][0]["answered_by"]
            .as_str()
            .unwrap()
            .starts_with("member:"),
        "{shown}"
    );
}
