//! From the first refusal to a connected account: at a real authorization server, and at one that answers what the case says.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::authority::{Authority, sign_in};
use testkit::tools::Tools;
use url::Url;

use super::guarded::Guarded;
use super::{CALLBACK, SignIn, parameter, rest, standing, text};
use crate::scene::Kind;

/// Every address of the authority that is asked without a browser.
pub(super) fn places(authority: &Authority) -> Vec<String> {
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/token",
        "/reg",
    ]
    .map(|path| format!("{}{path}", authority.issuer))
    .to_vec()
}

async fn at_a_real_one(kind: Kind) {
    let Some(tools) = Tools::find() else { return };
    let authority = Authority::start(&tools, &json!({})).await.unwrap();
    let guarded = Guarded::start(Some(&authority.issuer)).await;
    // It gives a refresh token only to who consents to that every time.
    let auth = json!({ "type": "oauth", "profile": "offline_consent" });
    let Some(scene) = SignIn::start(kind, guarded, &places(&authority), auth).await else {
        return;
    };
    let before = scene.shown().await;
    assert_eq!(standing(&before), "not_connected red", "{before}");
    assert_eq!(before["auth"]["account"]["callback_uri"], CALLBACK);
    let begun = scene.begin().await;
    assert_eq!(
        (&begun["status"], &begun["issuer"], &begun["requested_scopes"]),
        (
            &"pending".into(),
            &authority.issuer.as_str().into(),
            &json!(["tools:read", "tools:call", "offline_access"])
        ),
        "{begun}"
    );
    assert_eq!(scene.shown().await["auth"]["account"]["status"], "setup_pending");
    goes_and_comes_back(&scene, &begun).await;
    disconnects(&scene).await;
}

/// The one browser that went comes back, once.
async fn goes_and_comes_back(scene: &SignIn, begun: &Value) {
    let (url, cookie) = scene.open(begun).await;
    let landed = sign_in(url.clone(), &Url::parse(CALLBACK).unwrap())
        .await
        .unwrap();
    let query = landed.query().unwrap();
    // Only the browser that went comes back.
    for other in ["", "switchboard_sign_in=another", &format!("{cookie}; {cookie}")] {
        let refused = scene.back(query, other).await;
        assert_eq!(
            refused.status,
            StatusCode::NOT_FOUND,
            "{other}: {}",
            text(&refused)
        );
    }
    let back = scene.back(query, &cookie).await;
    assert_eq!(back.status, StatusCode::OK, "{}", text(&back));
    assert!(text(&back).contains("Connected"), "{}", text(&back));
    let again = scene.back(query, &cookie).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND, "an answer is taken once");
    scene.until_ready();
    let path = format!(
        "/connections/guarded/authorizations/{}",
        begun["id"].as_str().unwrap()
    );
    let ended = scene.rest(Method::GET, &path, &Value::Null).await.json();
    let shown = scene.shown().await;
    assert_eq!(
        (&ended["status"], &ended["version"], &ended["connect_url"]),
        (&"completed".into(), &shown["version"], &Value::Null),
        "{ended}"
    );
    assert_eq!(
        standing(&shown),
        "connected, renewed, configured green",
        "{shown}"
    );
    let account = &shown["auth"]["account"];
    assert!(account["expires_at"].is_string(), "{shown}");
    assert_eq!(scene.call("read").await, ("succeeded".to_owned(), None));
    assert_eq!(scene.call("write").await, ("succeeded".to_owned(), None));
    assert_eq!(scene.guarded.calls().len(), 2);
}

/// Settings stay, tokens do not.
async fn disconnects(scene: &SignIn) {
    let version = scene.shown().await["version"].clone();
    let body = json!({ "expected_version": version });
    let path = "/connections/guarded/disconnect";
    let stale = json!({ "expected_version": 99 });
    assert_eq!(
        scene.rest(Method::POST, path, &stale).await.status,
        StatusCode::CONFLICT
    );
    let gone = scene.rest(Method::POST, path, &body).await;
    assert_eq!(gone.status, StatusCode::OK, "{}", gone.json());
    let shown = gone.json();
    assert_eq!(standing(&shown), "not_connected red", "{shown}");
    assert_eq!(shown["version"], version);
    let calls = scene.guarded.calls().len();
    let (status, code) = scene.call("read").await;
    assert_eq!(
        (status.as_str(), code.as_deref()),
        ("failed", Some("auth_rejected"))
    );
    assert_eq!(
        scene.guarded.calls().len(),
        calls,
        "nothing is sent without a token"
    );
    let held = "SELECT count(*) FROM secrets WHERE field LIKE 'oauth:%' OR field LIKE 'authorization:%'";
    assert_eq!(scene.database.number(held).await.unwrap(), 0);
}

/// V131, V141, I042 to I063.
#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    at_a_real_one(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    at_a_real_one(Kind::Postgres).await;
}

/// What is said, what the token endpoint answers beside the usual, the status of the sign-in and its code, and what the page says.
const NOT_CONNECTED: [(&str, &str, &str, &str, &str); 9] = [
    ("error=access_denied", "{}", "denied", "consent_denied", "consent"),
    (
        "error=access_denied&error_description=not+a+test+user",
        "{}",
        "denied",
        "not_a_test_user",
        "test users",
    ),
    (
        "error=invalid_request&error_description=redirect_uri+does+not+match",
        "{}",
        "failed",
        "redirect_mismatch",
        "register the callback",
    ),
    (
        "error=server_error&error_description=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "{}",
        "failed",
        "authorization_refused",
        "&lt;script&gt;",
    ),
    ("code=c&code=d", "{}", "pending", "", "no sign-in waits"),
    ("", "{}", "failed", "mixed", "has no code"),
    (
        "code=c",
        r#"{ "expires_in": 150 }"#,
        "failed",
        "token_lifetime_too_short",
        "longer than 150",
    ),
    (
        "code=c",
        r#"{ "expires_in": null }"#,
        "failed",
        "token_lifetime_unreported",
        "unreported_lifetime",
    ),
    (
        "code=c",
        r#"{ "token_type": "DPoP" }"#,
        "failed",
        "malformed",
        "bearer",
    ),
];

/// What comes back is judged before anything of it is believed, and each failure says what to do.
#[tokio::test(flavor = "multi_thread")]
async fn answers_that_connect_nothing() {
    let guarded = Guarded::start(None).await;
    let scene = SignIn::start(Kind::Sqlite, guarded, &[], json!({ "type": "oauth" }))
        .await
        .unwrap();
    for (said, answer, status, code, words) in NOT_CONNECTED {
        scene.guarded.answer(serde_json::from_str(answer).unwrap());
        let begun = scene.begin().await;
        let (url, cookie) = scene.open(&begun).await;
        let back = scene.back(&scene.answer(&url, said), &cookie).await;
        assert_ne!(back.status, StatusCode::OK, "{said}");
        assert!(text(&back).contains(words), "{said}: {}", text(&back));
        let path = format!(
            "/connections/guarded/authorizations/{}",
            begun["id"].as_str().unwrap()
        );
        let ended = scene.rest(Method::GET, &path, &Value::Null).await.json();
        assert_eq!(
            (&ended["status"], ended["error_code"].as_str().unwrap_or_default()),
            (&status.into(), code),
            "{said}: {ended}"
        );
        let shown = scene.shown().await;
        assert_eq!(shown["auth"]["configured"], false, "{said}: {shown}");
    }
    // An answer that names another issuer, or none, where this one always names itself.
    for issuer in ["&iss=https%3A%2F%2Fevil.example", ""] {
        let begun = scene.begin().await;
        let (url, cookie) = scene.open(&begun).await;
        let asked = scene.guarded.asked().len();
        let query = format!("code=c&state={}{issuer}", parameter(&url, "state"));
        let back = scene.back(&query, &cookie).await;
        assert!(
            text(&back).contains("does not belong to this sign-in"),
            "{}",
            text(&back)
        );
        assert_eq!(scene.guarded.asked().len(), asked, "no code goes anywhere");
    }
}

/// Who may begin, who may go, and what calls a sign-in off. I052, I055.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_goes_and_an_edit_calls_it_off() {
    let guarded = Guarded::start(None).await;
    let scene = SignIn::start(Kind::Sqlite, guarded, &[], json!({ "type": "oauth" }))
        .await
        .unwrap();
    let body = json!({ "expected_version": 1 });
    let path = "/connections/guarded/authorizations";
    let by_agent = rest(&scene.house, &scene.house.agent, (Method::POST, path), &body).await;
    assert_eq!(by_agent.status, StatusCode::FORBIDDEN, "{}", by_agent.json());
    let stale = scene
        .rest(Method::POST, path, &json!({ "expected_version": 7 }))
        .await;
    assert_eq!(stale.json()["code"], "resource.version_conflict");
    let begun = scene.begin().await;
    // No program goes through it: the operation exists on the page only.
    let id = begun["id"].as_str().unwrap();
    let direct = scene
        .rest(Method::POST, &format!("/authorizations/{id}/open"), &json!({}))
        .await;
    assert_eq!(direct.status, StatusCode::NOT_FOUND, "{}", direct.json());
    let page = format!("{}/connect/{id}", scene.house.url);
    let agent = format!("Bearer {}", scene.house.agent);
    let admin = format!("Bearer {}", scene.house.admin);
    for key in [&agent, &admin] {
        // I047: a key gets no further than the sign-in page.
        let headers = [("authorization", key.as_str()), ("origin", &scene.house.url)];
        let away = testkit::http::send(Method::POST, &page, &headers, "")
            .await
            .unwrap();
        assert_eq!(away.status, StatusCode::SEE_OTHER, "{}", text(&away));
        let to = away.headers["location"].to_str().unwrap();
        assert!(to.starts_with("/sign-in?return_to="), "{to}");
    }
    let (url, cookie) = scene.open(&begun).await;
    let edited = json!({ "expected_version": 1, "label": "guarded" });
    let edit = scene.rest(Method::PATCH, "/connections/guarded", &edited).await;
    assert_eq!(edit.status, StatusCode::OK, "{}", edit.json());
    let shown = scene
        .rest(Method::GET, &format!("{path}/{id}"), &Value::Null)
        .await
        .json();
    assert_eq!(
        (&shown["status"], &shown["error_code"]),
        (&"cancelled".into(), &"connection_changed".into()),
        "{shown}"
    );
    let back = scene.back(&scene.answer(&url, "code=c"), &cookie).await;
    assert_eq!(back.status, StatusCode::NOT_FOUND, "{}", text(&back));
    assert!(scene.guarded.asked().is_empty(), "no code goes anywhere");
    // Called off by whoever began it; then it cannot be opened any more.
    let begun = scene.begin().await;
    let id = begun["id"].as_str().unwrap();
    let off = scene
        .rest(Method::DELETE, &format!("{path}/{id}"), &Value::Null)
        .await;
    assert_eq!(off.status, StatusCode::NO_CONTENT);
    let page = format!("{}/connect/{id}", scene.house.url);
    let person = crate::people::owner(&scene.house).await;
    let gone = person.post(&scene.house, &page, &[]).await;
    assert!(gone.status.is_client_error(), "{}", text(&gone));
}

/// Which client we are: one that was given, one that registers itself, none. V130, V138, V139, I044, I046, I047.
#[tokio::test(flavor = "multi_thread")]
async fn clients() {
    let guarded = Guarded::start(None).await;
    let scene = SignIn::start(Kind::Sqlite, guarded, &[], json!({ "type": "oauth" }))
        .await
        .unwrap();
    let (url, _) = scene.open(&scene.begin().await).await;
    assert_eq!(parameter(&url, "client_id"), "registered");
    assert_eq!(parameter(&url, "redirect_uri"), CALLBACK);
    assert_eq!(parameter(&url, "code_challenge_method"), "S256");
    assert_eq!(parameter(&url, "resource"), scene.guarded.url());
    let edit = async |auth: Value| {
        let version = scene.shown().await["version"].clone();
        let body = json!({ "expected_version": version, "auth": auth });
        scene.rest(Method::PATCH, "/connections/guarded", &body).await
    };
    let given = json!({ "type": "oauth", "client_id": "mine", "client_secret": "a secret of mine" });
    assert_eq!(edit(given).await.status, StatusCode::OK);
    let (url, cookie) = scene.open(&scene.begin().await).await;
    assert_eq!(parameter(&url, "client_id"), "mine");
    let back = scene.back(&scene.answer(&url, "code=c"), &cookie).await;
    assert_eq!(back.status, StatusCode::OK, "{}", text(&back));
    let last = scene.guarded.asked().pop().unwrap();
    let field = |name: &str| {
        last.iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| &**value)
    };
    // It did not say how the secret is sent; the server takes it in the body only.
    assert_eq!(
        (field("client_id"), field("client_secret"), field("resource")),
        (Some("mine"), Some("a secret of mine"), Some(scene.guarded.url()))
    );
    // Half a client is refused; none keeps the one there is.
    for half in [
        json!({ "type": "oauth", "client_secret": "without an id" }),
        json!({ "type": "oauth", "client_id": "b", "token_endpoint_auth_method": "client_secret_basic" }),
        json!({ "type": "oauth", "client_id": "b", "client_secret": "s", "token_endpoint_auth_method": "none" }),
        json!({ "type": "oauth", "client_id": "b", "token_endpoint_auth_method": "tls_client_auth" }),
        json!({ "type": "oauth", "scopes": ["a b"] }),
        json!({ "type": "oauth", "profile": "implicit" }),
        json!({ "type": "oauth", "issuer": "not a url" }),
        json!({ "type": "oauth", "dpop": true }),
    ] {
        let refused = edit(half.clone()).await;
        assert_eq!(
            refused.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{half}: {}",
            refused.json()
        );
    }
    let kept = edit(json!({ "type": "oauth", "profile": "offline_consent" })).await;
    assert_eq!(
        kept.json()["auth"]["account"]["client_id"],
        "mine",
        "{}",
        kept.json()
    );
    let (url, _) = scene.open(&scene.begin().await).await;
    assert_eq!(
        (&*parameter(&url, "client_id"), &*parameter(&url, "prompt")),
        ("mine", "consent")
    );
    let shown = scene.shown().await.to_string();
    assert!(!shown.contains("a secret of mine"), "{shown}");
}
