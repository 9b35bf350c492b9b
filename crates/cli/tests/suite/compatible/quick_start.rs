//! What the clients' quick start calls, in its order. I087; by row I001 to I012.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::inkbox::{Inkbox, Published};

use super::{Scene, only};
use crate::house::until_told;
use crate::scene::Kind;
use crate::sign_in::{back, open, parameter, rest, text};

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_client_on_sqlite() {
    the_rust_client(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_client_on_postgres() {
    the_rust_client(Kind::Postgres).await;
}

async fn the_rust_client(kind: Kind) {
    let Some(scene) = Scene::start(kind).await else {
        return;
    };
    let mut client = scene.rust(&scene.house.agent);
    let identity = client
        .good("identity", json!({ "handle": "default" }))
        .await
        .unwrap();
    let made = creates(&scene, &mut client, &identity).await;
    let id = &made["id"];
    changes(&mut client, id).await;
    signs_in(&scene, &mut client, id).await;
    uses(&scene, &mut client, id).await;
    leaves(&scene, &mut client, id).await;
    speaks(&scene, &mut client, &identity["id"]).await;
}

/// I002, I016, I018, I024, I032, I053, I057: made once however often it is asked for; never shown with secrets.
async fn creates(scene: &Scene, client: &mut Inkbox, identity: &Value) -> Value {
    let wanted = json!({ "handle": "default", "key": "calendar-setup-1", "label": "Calendar", "url": scene.guarded.url(),
        "auth": { "type": "oauth", "scopes": ["tools:read"] } });
    let made = client.good("create", wanted.clone()).await.unwrap();
    assert_eq!(
        only(
            &made,
            &[
                "label",
                "url",
                "transport",
                "enabled",
                "allowed_tools",
                "version",
                "agent"
            ]
        ),
        json!({ "label": "Calendar", "url": scene.guarded.url(), "transport": "streamable_http", "enabled": true,
            "allowed_tools": null, "version": 1, "agent": identity["id"] }),
    );
    assert_eq!(
        only(&made["auth"], &["type", "configured", "status", "callback_uri"]),
        json!({ "type": "oauth", "configured": false, "status": "not_connected",
            "callback_uri": "http://localhost:7100/api/mcp/auth/callback" }),
    );
    let again = client.good("create", wanted.clone()).await.unwrap();
    assert_eq!(
        again["id"], made["id"],
        "the same request is answered with the same"
    );
    let mut other = wanted;
    other["label"] = "Other".into();
    let refused = client.ask("create", other).await.unwrap();
    assert!(
        refused["failed"]
            .as_str()
            .is_some_and(|said| said.contains("IdempotencyKeyReused")),
        "{refused}"
    );
    for listed in [
        client
            .good("list", json!({ "agent": identity["id"] }))
            .await
            .unwrap(),
        client.good("list", json!({})).await.unwrap(),
        client
            .good("list_own", json!({ "handle": "default" }))
            .await
            .unwrap(),
    ] {
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        assert_eq!(listed[0]["id"], made["id"]);
    }
    made
}

/// I028, I029, I006, I026: a change names the version it saw, and what it leaves out stays.
async fn changes(client: &mut Inkbox, id: &Value) {
    let before = client.good("get", json!({ "connection": id })).await.unwrap();
    let nothing = json!({ "prompts": [], "resources": [], "skills": [] });
    assert_eq!(
        only(&before["context"], &["prompts", "resources", "skills"]),
        nothing
    );
    let wanted =
        json!({ "connection": id, "version": 1, "allowed_tools": null, "context": { "mode": "all" } });
    let changed = client.good("update", wanted).await.unwrap();
    assert_eq!(
        only(&changed, &["version", "allowed_tools", "label", "enabled"]),
        json!({ "version": 2, "allowed_tools": null, "label": "Calendar", "enabled": true })
    );
    assert_eq!(changed["context"]["mode"], "all");
    let tested = client.good("test", json!({ "connection": id })).await.unwrap();
    assert_eq!(
        tested,
        json!({ "success": false, "code": "sign_in_required", "version": 2 })
    );
}

/// I009 to I012, I017, I052 to I054: the link is asked for, a person goes, and the account is there.
async fn signs_in(scene: &Scene, client: &mut Inkbox, id: &Value) {
    let start = json!({ "connection": id, "version": 2, "key": "calendar-connect-1" });
    let begun = client.good("authorize", start.clone()).await.unwrap();
    assert_eq!(
        only(
            &begun,
            &[
                "status",
                "connection",
                "version",
                "requested_scopes",
                "error_code"
            ]
        ),
        json!({ "status": "pending", "connection": id, "version": null, "requested_scopes": ["tools:read"],
            "error_code": null })
    );
    assert_eq!(client.good("authorize", start).await.unwrap()["id"], begun["id"]);
    let named = json!({ "connection": id, "transaction": begun["id"] });
    assert_eq!(
        client.good("authorization", named.clone()).await.unwrap()["status"],
        "pending"
    );
    client.good("cancel", named.clone()).await.unwrap();
    assert_eq!(
        client.good("authorization", named).await.unwrap()["status"],
        "cancelled"
    );
    let start = json!({ "connection": id, "version": 2, "key": "calendar-connect-2" });
    let begun = client.good("authorize", start).await.unwrap();
    let (url, cookie) = open(&scene.house, &begun).await;
    let issuer: String = url::form_urlencoded::byte_serialize(scene.guarded.origin().as_bytes()).collect();
    let query = format!("code=the-code&state={}&iss={issuer}", parameter(&url, "state"));
    let landed = back(&scene.house, &query, &cookie).await;
    assert_eq!(landed.status, StatusCode::OK, "{}", text(&landed));
    let named = json!({ "connection": id, "transaction": begun["id"] });
    let ended = client.good("authorization", named).await.unwrap();
    assert_eq!(
        only(&ended, &["status", "connect_url"]),
        json!({ "status": "completed", "connect_url": null })
    );
    assert!(ended["version"].is_u64(), "{ended}");
}

/// I007, I008, I033, I034, I039, I065: ready, browsed in pages, and the agent's own without another word.
async fn uses(scene: &Scene, client: &mut Inkbox, id: &Value) {
    let ready = scene.until(client, id, "ready").await;
    assert_eq!(
        (
            &ready["auth"]["configured"],
            &ready["auth"]["status"],
            &ready["health"]
        ),
        (&true.into(), &"connected".into(), &Value::Null),
        "{ready}"
    );
    assert!(
        ready["capabilities"]["tools"] == true && ready["catalog_version"].is_string(),
        "{ready}"
    );
    assert!(ready["catalog_fetched_at"].is_string(), "{ready}");
    let refreshed = client
        .good("refresh", json!({ "connection": id, "key": "refresh-1" }))
        .await
        .unwrap();
    assert_eq!(
        only(&refreshed, &["success", "code"]),
        json!({ "success": true, "code": "queued" })
    );
    let mut names = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = client
            .good(
                "catalog",
                json!({ "connection": id, "limit": 1, "cursor": cursor }),
            )
            .await
            .unwrap();
        let items = page["tools"].as_array().unwrap();
        assert!(items.len() <= 1, "{page}");
        names.extend(items.iter().map(|tool| tool["name"].clone()));
        if page["next_cursor"].is_null() {
            break;
        }
        cursor = page["next_cursor"].clone();
    }
    assert_eq!(names, ["read", "write"]);
    let body = json!({ "name": "calendar__write", "arguments": {} });
    let called = rest(
        &scene.house,
        &scene.house.agent,
        (Method::POST, "/tools/call"),
        &body,
    )
    .await;
    assert_eq!(called.json()["status"], "succeeded", "{}", called.json());
    let tested = client.good("test", json!({ "connection": id })).await.unwrap();
    assert_eq!(
        only(&tested, &["success", "code"]),
        json!({ "success": true, "code": "ok" })
    );
}

/// I012, I005, I058, I061: the account is forgotten and the settings stay; then they go too.
async fn leaves(scene: &Scene, client: &mut Inkbox, id: &Value) {
    let version = client.good("get", json!({ "connection": id })).await.unwrap()["version"].clone();
    let gone = client
        .good(
            "disconnect",
            json!({ "connection": id, "version": version, "key": "calendar-disconnect-1" }),
        )
        .await
        .unwrap();
    assert_eq!(
        only(&gone, &["success", "code"]),
        json!({ "success": true, "code": "disconnected" })
    );
    // I063: no tokens are left in the world, not even at the authorization server.
    let back = async || (scene.guarded.given_back() == ["rt-1"]).then_some(());
    until_told(&scene.house, "the tokens are given back", back).await;
    let shown = client.good("get", json!({ "connection": id })).await.unwrap();
    assert_eq!(
        (&shown["auth"]["configured"], &shown["label"]),
        (&false.into(), &"Calendar".into()),
        "{shown}"
    );
    client.good("delete", json!({ "connection": id })).await.unwrap();
    let missing = client.ask("get", json!({ "connection": id })).await.unwrap();
    assert_eq!(missing["status"], 404, "{missing}");
    let body = json!({ "name": "calendar__write", "arguments": {} });
    let called = rest(
        &scene.house,
        &scene.house.agent,
        (Method::POST, "/tools/call"),
        &body,
    )
    .await;
    assert_ne!(called.json()["status"], "succeeded", "{}", called.json());
}

/// Rows 16 to 19: voices, how the agent speaks, who asks, and calls.
async fn speaks(scene: &Scene, client: &mut Inkbox, agent: &Value) {
    let voices = client.good("voices", json!({})).await.unwrap();
    let default = voices["default_voice"].clone();
    let known = voices["voices"].as_array().unwrap();
    // I037
    assert!(
        known
            .iter()
            .any(|voice| voice["id"] == default && voice["mcp_supported"].is_boolean())
    );
    let config = client.good("config", json!({})).await.unwrap();
    assert_eq!(
        only(
            &config,
            &["agent_identity_id", "voice", "effective_voice", "authority_mode"]
        ),
        json!({ "agent_identity_id": agent, "voice": null, "effective_voice": default, "authority_mode": "contact_scoped" })
    );
    let set = json!({ "voice": "nova", "instructions": "Speak slowly." });
    let set = client.good("set_config", set).await.unwrap();
    assert_eq!(
        only(&set, &["voice", "effective_voice", "instructions"]),
        json!({ "voice": "nova", "effective_voice": "nova", "instructions": "Speak slowly." })
    );
    let refused = client
        .ask("set_config", json!({ "voice": "nobody" }))
        .await
        .unwrap();
    assert_eq!(refused["status"], 422, "{refused}");
    // An agent does not say by itself what it may say.
    let refused = client
        .ask("set_authority", json!({ "agent": agent }))
        .await
        .unwrap();
    assert_eq!(refused["status"], 403, "{refused}");
    let mut admin = scene.rust(&scene.house.admin);
    let set = admin
        .good("set_authority", json!({ "agent": agent }))
        .await
        .unwrap();
    assert_eq!(
        only(&set, &["authority_mode", "voice", "instructions"]),
        json!({ "authority_mode": "yolo", "voice": "nova", "instructions": "Speak slowly." })
    );
    let reset = client.good("set_config", json!({})).await.unwrap();
    assert_eq!(
        only(&reset, &["voice", "instructions", "authority_mode"]),
        json!({ "voice": null, "instructions": null, "authority_mode": "yolo" })
    );
    assert_eq!(client.good("calls", json!({})).await.unwrap(), json!([]));
    let placed = client.ask("place", json!({})).await.unwrap();
    assert_eq!(placed["status"], 503, "{placed}");
    assert!(
        placed["detail"]
            .as_str()
            .unwrap()
            .contains("hosted_agent_unavailable"),
        "{placed}"
    );
}

/// I087: the Python client knows rows 1, 14, 16, 18 and 19; what it says of calls is tested where there are some.
#[tokio::test(flavor = "multi_thread")]
async fn the_python_client() {
    let Some(scene) = Scene::start(Kind::Sqlite).await else {
        return;
    };
    let mut client = scene.client(Published::Python, &scene.house.agent);
    let identity = client
        .good("identity", json!({ "handle": "default" }))
        .await
        .unwrap();
    assert_eq!(identity["handle"], "default");
    let who = client.good("whoami", json!({})).await.unwrap();
    assert_eq!(
        only(&who, &["auth_type", "auth_subtype"]),
        json!({ "auth_type": "api_key", "auth_subtype": "api_key.agent_scoped.claimed" })
    );
    let voices = client.good("voices", json!({})).await.unwrap();
    assert!(!voices["voices"].as_array().unwrap().is_empty(), "{voices}");
    assert_eq!(client.good("calls", json!({})).await.unwrap(), json!([]));
}
