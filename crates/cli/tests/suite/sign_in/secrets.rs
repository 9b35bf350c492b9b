//! A secret planted in every field of every kind of account is nowhere to be found but sealed in the vault. V129, O045, I027, I038.

use std::path::Path;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::guarded::Guarded;
use super::{SignIn, pem, rest, text};
use crate::scene::Kind;

/// What all planted secrets begin with.
const PLANTED: &str = "PLANTED-";

/// Everything that was said.
#[derive(Default)]
struct Heard(Vec<(String, String)>);

impl Heard {
    fn take(&mut self, what: &str, said: impl Into<String>) {
        self.0.push((what.to_owned(), said.into()));
    }

    fn check(&self) {
        for (what, said) in &self.0 {
            assert!(!said.contains(PLANTED), "{what} tells a secret: {said}");
        }
    }
}

/// Files of a folder, and of those in it.
fn files(folder: &Path, heard: &mut Heard) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, heard);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            heard.take(path.to_str().unwrap(), String::from_utf8_lossy(&bytes));
        }
    }
}

/// Each kind of account, with a secret in every field that takes one.
fn accounts() -> Vec<(&'static str, Value)> {
    let planted = |what: &str| format!("{PLANTED}{what}");
    let key = pem(&rcgen::KeyPair::generate().unwrap());
    vec![
        ("bearer", json!({ "type": "bearer", "token": planted("bearer") })),
        (
            "header",
            json!({ "type": "header", "header_name": "X-Key", "value_prefix": "Token ", "token": planted("header") }),
        ),
        (
            "client",
            json!({ "type": "oauth", "client_id": "mine", "client_secret": planted("client-secret") }),
        ),
        (
            "credentials",
            json!({ "type": "client_credentials", "client_id": "mine", "client_secret": planted("credentials") }),
        ),
        (
            "signer",
            json!({ "type": "private_key_jwt", "client_id": "mine", "private_key": key, "algorithm": "ES256" }),
        ),
    ]
}

async fn every_kind(scene: &SignIn, heard: &mut Heard) {
    for (name, auth) in accounts() {
        let body = json!({ "label": name, "url": scene.guarded.url(), "transport": "streamable_http", "trusted": true,
            "auth": auth, "headers": [{ "name": "X-More", "value": format!("{PLANTED}more") }] });
        let added = scene.rest(Method::POST, "/connections", &body).await;
        assert_eq!(added.status, StatusCode::CREATED, "{name}: {}", added.json());
        heard.take("an added connection", text(&added));
        let path = format!("/connections/{name}");
        for (method, path) in [
            (Method::GET, path.clone()),
            (Method::GET, format!("{path}/status")),
            (Method::POST, format!("{path}/test")),
        ] {
            let said = scene.rest(method, &path, &Value::Null).await;
            heard.take(&path, text(&said));
        }
        // What cannot be taken is not repeated either.
        let mut wrong = body.clone();
        wrong["label"] = format!("{name} wrong").into();
        for field in ["token", "client_secret", "private_key"] {
            if wrong["auth"][field].is_string() {
                wrong["auth"][field] = format!("{PLANTED}with a line\nbreak").into();
            }
        }
        wrong["auth"]["unknown"] = format!("{PLANTED}in a field nobody knows").into();
        let refused = scene.rest(Method::POST, "/connections", &wrong).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{name}");
        heard.take("a refused connection", text(&refused));
        let tool = [
            "tools", "classify", name, "write", "--risk", "low", "--effect", "mutating",
        ];
        heard.take("a command", scene.house.run(&tool).out);
        let grant = [
            "grants",
            "set",
            "default",
            "--connection",
            name,
            "--tool",
            "write",
        ];
        scene
            .house
            .run(&[&grant[..], &["--permission", "unattended"]].concat());
        let call = json!({ "name": format!("{name}__write"), "arguments": {} });
        let key = &scene.house.agent;
        let said = rest(&scene.house, key, (Method::POST, "/tools/call"), &call).await;
        heard.take("a call", text(&said));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nowhere_but_in_the_vault() {
    let guarded = Guarded::start(None).await;
    let planted = |what: &str| format!("{PLANTED}{what}");
    guarded.answer(json!({ "access_token": planted("access"), "refresh_token": planted("refresh") }));
    guarded.repeat(true);
    let mut scene = SignIn::start(Kind::Sqlite, guarded, &[], json!({ "type": "oauth" }))
        .await
        .unwrap();
    let mut heard = Heard::default();
    let begun = scene.begin().await;
    heard.take("a sign-in", begun.to_string());
    let (url, cookie) = scene.open(&begun).await;
    let landed = scene
        .back(&scene.answer(&url, &format!("code={PLANTED}code")), &cookie)
        .await;
    assert_eq!(landed.status, StatusCode::OK, "{}", text(&landed));
    heard.take("the page", text(&landed));
    scene.until_ready();
    every_kind(&scene, &mut heard).await;
    assert_eq!(scene.call("write").await.0, "failed");
    assert!(scene.guarded.calls().contains(&format!("Bearer {PLANTED}access")));
    // Refused, with words that repeat what was sent.
    let refusal = json!({ "error": "invalid_grant", "error_description": planted("refresh is not known") });
    scene.guarded.refuse(Some((400, refusal)));
    scene.guarded.repeat(false);
    let refused = scene.call("read").await;
    assert_eq!(refused.1.as_deref(), Some("auth_rejected"), "{refused:?}");
    let shown = scene.shown().await;
    assert_eq!(
        shown["auth"]["account"]["status"], "reauthorization_required",
        "{shown}"
    );
    heard.take("an account that does not work", shown.to_string());
    for path in ["/connections", "/activity", "/audit", "/tools?connection=bearer"] {
        let said = scene.rest(Method::GET, path, &Value::Null).await;
        assert_eq!(said.status, StatusCode::OK, "{path}: {}", text(&said));
        heard.take(path, text(&said));
    }
    for line in [
        &["connections", "list"][..],
        &["audit", "list"],
        &["activity", "list"],
    ] {
        let said = scene.house.run(line);
        heard.take("a command", said.out + &said.err);
    }
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", scene.house.id())).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    scene.house.stop();
    files(scene.house.folder.path(), &mut heard);
    assert!(heard.0.iter().any(|(what, _)| what.ends_with("switchboard.db")));
    heard.check();
}
