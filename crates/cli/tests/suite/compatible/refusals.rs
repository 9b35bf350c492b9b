//! What the routes refuse, and how: as the published client reads it.

use http::Method;
use serde_json::{Value, json};
use testkit::inkbox::Inkbox;

use super::Scene;
use crate::scene::Kind;

/// One request that is refused: what is asked, the status, and a word of what is said.
struct Refused<'a>(&'a str, Value, u16, &'a str);

async fn check(client: &mut Inkbox, cases: Vec<Refused<'_>>) {
    for Refused(what, with, status, word) in cases {
        let said = client.ask(what, with.clone()).await.unwrap();
        assert_eq!(said["status"], status, "{what} {with}: {said}");
        assert!(
            said["detail"].as_str().unwrap().contains(word),
            "{what} {with}: {said}"
        );
    }
}

fn new(key: &str, label: &str, url: &str, more: Value) -> Value {
    let mut wanted = json!({ "key": key, "label": label, "url": url });
    wanted
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    wanted
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_labels_versions_and_settings() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(scene) = Scene::start(kind).await else {
            continue;
        };
        limits(&scene).await;
    }
}

async fn limits(scene: &Scene) {
    let url = scene.guarded.url();
    let mut client = scene.rust(&scene.house.agent);
    let off = json!({ "enabled": false });
    let mut made = Vec::new();
    for label in ["One", "Two", "Three"] {
        // I023: what is switched off counts too.
        let wanted = new(label, label, url, off.clone());
        made.push(client.good("create_plain", wanted).await.unwrap()["id"].clone());
    }
    let (first, second) = (&made[0], &made[1]);
    let bearer = json!({ "connection": second, "version": 1, "auth": { "type": "bearer", "token": "t" } });
    let changed = client.good("update", bearer).await.unwrap();
    assert_eq!(changed["auth"]["configured"], true, "{changed}");
    check(&mut client, conflicts(url, first, second)).await;
    // I031
    let none = json!({ "connection": second, "version": 2, "auth": { "type": "none" } });
    let changed = client.good("update", none).await.unwrap();
    assert_eq!(
        (&changed["auth"]["type"], &changed["auth"]["configured"]),
        (&"none".into(), &false.into())
    );
    client
        .good("delete", json!({ "connection": first }))
        .await
        .unwrap();
    check(&mut client, settings(url)).await;
    // I023: there is room again.
    client
        .good("create_plain", new("1", "Four", url, off))
        .await
        .unwrap();
}

fn conflicts<'a>(url: &str, first: &Value, second: &Value) -> Vec<Refused<'a>> {
    let elsewhere = json!({ "connection": second, "version": 2, "url": "https://1.1.1.1/mcp" });
    let stale = json!({ "connection": first, "version": 7, "label": "Uno" });
    let taken = json!({ "connection": first, "version": 1, "label": "Two" });
    vec![
        // I019
        Refused(
            "create_plain",
            new("4", "Four", url, json!({ "enabled": false })),
            409,
            "connection_limit_reached",
        ),
        // I028
        Refused("update", stale, 409, "stale_version"),
        // I020
        Refused("update", taken, 409, "label_taken"),
        // I030
        Refused("update", elsewhere, 422, "auth"),
        // I036
        Refused(
            "get",
            json!({ "connection": "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b" }),
            404,
            "",
        ),
        Refused(
            "catalog",
            json!({ "connection": first, "limit": 101 }),
            422,
            "limit",
        ),
        Refused(
            "catalog",
            json!({ "connection": first, "cursor": "x" }),
            422,
            "cursor",
        ),
    ]
}

fn settings<'a>(url: &str) -> Vec<Refused<'a>> {
    let long = "x".repeat(65);
    let made = |key: &str, label: &str, url: &str, more: Value| new(key, label, url, more);
    let oauth = json!({ "auth": { "type": "oauth", "client_secret": "alone" } });
    let twice = json!({ "allowed_tools": ["a", "a"] });
    let none = json!({ "allowed_tools": [] });
    vec![
        // I020
        Refused(
            "create_plain",
            made("a", "Two", url, json!({})),
            409,
            "label_taken",
        ),
        Refused("create_plain", made("b", &long, url, json!({})), 422, "label"),
        // I021
        Refused(
            "create_plain",
            made("c", "C", "http://example.com/mcp", json!({})),
            422,
            "url",
        ),
        Refused(
            "create_plain",
            made("d", "D", "https://u:p@example.com/mcp", json!({})),
            422,
            "url",
        ),
        Refused(
            "create_plain",
            made("e", "E", "https://example.com/mcp#x", json!({})),
            422,
            "url",
        ),
        Refused(
            "create_plain",
            made("f", "F", "https://10.0.0.1/mcp", json!({})),
            422,
            "url",
        ),
        // I025
        Refused("create_plain", made("g", "G", url, none), 422, "allowed_tools"),
        Refused("create_plain", made("h", "H", url, twice), 422, "allowed_tools"),
        // I041
        Refused("create_plain", made("i", "I", url, oauth), 422, "client_id"),
        // I016
        Refused(
            "create_plain",
            made("", "J", url, json!({})),
            422,
            "Idempotency-Key",
        ),
    ]
}

/// I013, I014, I015, I036: who may do what with whose.
#[tokio::test(flavor = "multi_thread")]
async fn who_asks() {
    let Some(scene) = Scene::start(Kind::Sqlite).await else {
        return;
    };
    let url = scene.guarded.url();
    let (other, other_key) = scene.agent("other", true);
    let (_, unclaimed) = scene.agent("stray", false);
    let mut own = scene.rust(&scene.house.agent);
    let mut admin = scene.rust(&scene.house.admin);
    let mut foreign = scene.rust(&other_key);
    let mut stray = scene.rust(&unclaimed);
    let off = json!({ "enabled": false });
    let made = own
        .good("create_plain", new("1", "Mine", url, off.clone()))
        .await
        .unwrap();
    let id = &made["id"];
    let at = |with: Value| {
        let mut with = with;
        with["connection"] = id.clone();
        with
    };
    for what in ["get", "delete", "test", "catalog"] {
        check(&mut foreign, vec![Refused(what, at(json!({})), 404, "")]).await;
        check(&mut stray, vec![Refused(what, at(json!({})), 403, "claim")]).await;
    }
    let versioned = || at(json!({ "version": 1, "key": "k" }));
    for what in ["update", "refresh", "authorize", "disconnect"] {
        check(&mut foreign, vec![Refused(what, versioned(), 404, "")]).await;
        check(&mut stray, vec![Refused(what, versioned(), 403, "claim")]).await;
    }
    let cases = vec![
        Refused("list", json!({ "agent": other }), 404, ""),
        Refused(
            "create_plain",
            new("2", "B", url, json!({ "agent": other })),
            404,
            "",
        ),
        Refused("identity", json!({ "handle": "other" }), 404, ""),
        Refused("config", json!({ "agent": other }), 404, ""),
    ];
    check(&mut own, cases).await;
    let cases = vec![
        Refused("list", json!({}), 422, "agent"),
        Refused("create_plain", new("3", "C", url, json!({})), 422, "agent"),
        Refused("key", json!({ "label": "root" }), 403, "identity"),
    ];
    check(&mut admin, cases).await;
    check(&mut stray, vec![Refused("list", json!({}), 403, "claim")]).await;
    for_others(&scene, (&mut admin, &mut foreign), &other).await;
    says_who(&scene, [&mut admin, &mut own, &mut stray], &unclaimed).await;
}

/// An administrator acts for any agent, and makes keys for them.
async fn for_others(scene: &Scene, (admin, foreign): (&mut Inkbox, &mut Inkbox), other: &str) {
    let url = scene.guarded.url();
    let wanted = new("4", "Mine", url, json!({ "agent": other, "enabled": false }));
    let made = admin.good("create_plain", wanted).await.unwrap();
    assert_eq!(made["agent"], other, "a label is unique for its agent only");
    let seen = foreign.good("list", json!({})).await.unwrap();
    assert_eq!(seen.as_array().map(Vec::len), Some(1));
    let key = admin
        .good("key", json!({ "label": "second", "agent": other }))
        .await
        .unwrap();
    assert!(
        key["key"]
            .as_str()
            .unwrap()
            .ends_with(key["last4"].as_str().unwrap())
    );
    let mut with_it = scene.rust(key["key"].as_str().unwrap());
    assert_eq!(with_it.good("list", json!({})).await.unwrap(), seen);
}

async fn says_who(scene: &Scene, [admin, own, stray]: [&mut Inkbox; 3], unclaimed: &str) {
    for (client, subtype) in [
        (&mut *admin, "api_key.admin_scoped"),
        (&mut *own, "api_key.agent_scoped.claimed"),
        (&mut *stray, "api_key.agent_scoped.unclaimed"),
    ] {
        let who = client.good("whoami", json!({})).await.unwrap();
        assert_eq!(
            (&who["auth_type"], &who["auth_subtype"]),
            (&"api_key".into(), &subtype.into()),
            "{who}"
        );
    }
    assert_eq!(
        own.good("identities", json!({})).await.unwrap(),
        json!(["default"])
    );
    assert_eq!(
        admin.good("identities", json!({})).await.unwrap(),
        json!(["default", "other", "stray"])
    );
    // An agent that nobody has claimed calls nothing either.
    let body = json!({ "name": "current_time", "arguments": {} });
    let called = crate::sign_in::rest(&scene.house, unclaimed, (Method::POST, "/tools/call"), &body).await;
    assert_ne!(called.json()["status"], "succeeded", "{}", called.json());
    let nobody = scene
        .rust("sb_agent_nobody")
        .ask("list", json!({}))
        .await
        .unwrap();
    assert_eq!(nobody["status"], 401, "{nobody}");
}

/// Requests to make a connection that no published client sends: what is in the body besides label and URL, the key, and a word of
/// what is said.
const BODIES: [(&str, Option<&str>, &str); 9] = [
    ("", Some(""), "Idempotency-Key"),
    ("", None, "Idempotency-Key"),
    (r#","trusted":true"#, Some("k"), "trusted"),
    (r#","namespace":"x""#, Some("k"), "namespace"),
    (r#","transport":"stdio""#, Some("k"), "transport"),
    (r#","transport":"auto""#, Some("k"), "transport"),
    // I070
    (
        r#","context":{"mode":"all","resources":["note://a"]}"#,
        Some("k"),
        "context",
    ),
    // I050: what the strict set leaves out.
    (
        r#","auth":{"type":"client_credentials","client_id":"c"}"#,
        Some("k"),
        "auth.type",
    ),
    // I049: a token whose life is not known is not taken on these routes.
    (
        r#","auth":{"type":"oauth","unreported_lifetime":true}"#,
        Some("k"),
        "unreported_lifetime",
    ),
];

/// Paths that name nothing, or ask for what cannot be.
const PATHS: [(&str, u16, &str); 5] = [
    (
        "/phone/hosted-agent-config/mcp-servers/nowhere",
        404,
        "connection",
    ),
    ("/phone/calls/nowhere/mcp-activity", 404, "call"),
    ("/phone/calls?limit=x", 422, "limit"),
    ("/phone/calls?start_datetime=yesterday", 422, "from"),
    ("/identities/nobody", 404, "agent"),
];

/// Each is refused with a sentence and changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn odd_requests() {
    let Some(scene) = Scene::start(Kind::Sqlite).await else {
        return;
    };
    let url = scene.guarded.url();
    let full = |more: &str| format!(r#"{{"label":"A","url":"{url}"{more}}}"#);
    let mut bodies: Vec<_> = BODIES.map(|(more, key, word)| (full(more), key, word)).into();
    bodies.push(("[]".to_owned(), Some("k"), "object"));
    bodies.push(("{".to_owned(), Some("k"), "JSON"));
    let send = async |method: Method, path: &str, key: Option<&str>, body: String| {
        let address = format!("{}/api/v1{path}", scene.house.url);
        let mut headers = vec![
            ("x-api-key", &*scene.house.agent),
            ("content-type", "application/json"),
        ];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        testkit::http::send(method, &address, &headers, body)
            .await
            .unwrap()
    };
    for (body, key, word) in bodies {
        let path = "/phone/hosted-agent-config/mcp-servers";
        let said = send(Method::POST, path, key, body.clone()).await;
        let detail = said.json()["detail"].to_string();
        assert!(said.status == 422 && detail.contains(word), "{body}: {detail}");
    }
    for (path, status, word) in PATHS {
        let said = send(Method::GET, path, None, String::new()).await;
        let detail = said.json()["detail"].to_string();
        assert!(said.status == status && detail.contains(word), "{path}: {detail}");
    }
    // Both forms of a path, and no redirect between them.
    for path in ["/identities", "/identities/", "/phone/hosted-agent-voices/"] {
        assert_eq!(
            send(Method::GET, path, None, String::new()).await.status,
            200,
            "{path}"
        );
    }
    let listed = scene.house.json(&["connections", "list"])["items"].clone();
    let made = |label: &str| listed.as_array().unwrap().iter().any(|c| c["label"] == label);
    assert!(!made("A"), "{listed}");
}
