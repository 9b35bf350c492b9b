//! The other product's command line, line by line, with only the program's name changed. I089, I090, I091.

use serde_json::{Value, json};

use super::{Scene, only};
use crate::house::{Said, until};
use crate::scene::Kind;

fn words(line: &str) -> Vec<&str> {
    let line: Vec<&str> = line.split_whitespace().collect();
    [&["phone", "hosted-agent", "mcp"], &line[..]].concat()
}

impl Scene {
    fn verb(&self, line: &str, input: &str) -> Said {
        self.house.run_with(&words(line), &self.house.agent, input)
    }

    fn good(&self, line: &str, input: &str) -> Value {
        let said = self.verb(line, input);
        assert_eq!(said.code, 0, "{line}: {said:?}");
        if said.out.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&said.out).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line() {
    let Some(scene) = Scene::start(Kind::Sqlite).await else {
        return;
    };
    let url = scene.guarded.url();
    let settings = json!({ "label": "Calendar", "url": url, "auth": { "type": "bearer", "token": "from-the-file" },
        "allowedTools": ["read"] });
    scene.house.file("connection.json", &settings.to_string());
    let create = "create -i default --file connection.json --idempotency-key calendar-setup-1";
    let made = scene.good(create, "");
    let id = made["id"].as_str().unwrap();
    assert_eq!(
        only(&made, &["label", "allowed_tools", "config_version"]),
        json!({ "label": "Calendar", "allowed_tools": ["read"], "config_version": 1 })
    );
    assert!(!made.to_string().contains("from-the-file"));
    assert_eq!(
        scene.good(create, "")["id"],
        made["id"],
        "the same key does it once"
    );
    let listed = scene.good("list -i default", "");
    assert_eq!(listed["connections"][0]["id"], made["id"]);
    assert_eq!(scene.good(&format!("get {id}"), "")["label"], "Calendar");
    let tested = scene.good(&format!("test {id}"), "");
    assert!(tested["code"].is_string(), "{tested}");
    let catalog = scene.good(&format!("catalog {id}"), "");
    assert!(catalog["tools"].is_array(), "{catalog}");
    let refreshed = scene.good(&format!("refresh {id} --idempotency-key refresh-1"), "");
    assert_eq!(refreshed["success"], true);
    // I090: over standard input.
    let changed = scene.good(
        &format!("update {id} --file -"),
        &json!({ "expectedVersion": 1, "auth": { "type": "oauth", "clientId": "public" } }).to_string(),
    );
    assert_eq!(changed["config_version"], 2, "{changed}");
    let stale = scene.verb(
        &format!("update {id} --file -"),
        "{\"expectedVersion\":1,\"label\":\"X\"}",
    );
    assert!(stale.code == 1 && stale.err.contains("version"), "{stale:?}");
    signs_in(&scene, id);
    scene.good(&format!("delete {id}"), "");
    let gone = scene.verb(&format!("get {id}"), "");
    assert!(
        gone.code == 1 && gone.err.contains("no such connection"),
        "{gone:?}"
    );
    let call = "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    let activity = scene.verb(&format!("activity {call}"), "");
    assert!(
        activity.code == 1 && activity.err.contains("no such call"),
        "{activity:?}"
    );
    let absent = scene.verb("list -i nobody", "");
    assert!(absent.code == 1 && absent.err.contains("nobody"), "{absent:?}");
    let long = scene.verb(&format!("oauth connect {id} --expected-version 1 --wait 601"), "");
    assert!(long.code == 64 && long.err.contains("600"), "I056: {long:?}");
}

/// I056: it waits for a person, and never consents itself.
fn signs_in(scene: &Scene, id: &str) {
    let connect = "--expected-version 2 --idempotency-key calendar-connect-1";
    let begun = scene.good(&format!("oauth connect {id} {connect}"), "");
    let transaction = begun["id"].as_str().unwrap();
    assert_eq!(begun["status"], "pending");
    assert_eq!(
        scene.good(&format!("oauth status {id} {transaction}"), "")["status"],
        "pending"
    );
    let waited = scene.verb(&format!("oauth connect {id} {connect} --wait 1"), "");
    assert!(waited.code == 1 && waited.out.contains("pending"), "{waited:?}");
    assert!(waited.err.contains("/connect/"), "{waited:?}");
    scene.good(&format!("oauth cancel {id} {transaction}"), "");
    until("the sign-in is called off", || {
        let found = scene.good(&format!("oauth status {id} {transaction}"), "");
        (found["status"] == "cancelled").then_some(())
    });
    let off = scene.good(
        &format!("oauth disconnect {id} --expected-version 2 --idempotency-key calendar-disconnect-1"),
        "",
    );
    assert_eq!(off["code"], "disconnected");
}
