//! Accounts that are the client's own: no person, a token with the first use. V125.

use base64::Engine as _;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::authority::Authority;
use testkit::tools::Tools;

use super::flow::places;
use super::guarded::Guarded;
use super::{SignIn, pem};
use crate::scene::Kind;

const SECRET: &str = "a secret of 32 characters, or so!";

fn client(id: &str, method: &str, more: &Value) -> Value {
    let mut client = json!({ "client_id": id, "token_endpoint_auth_method": method, "redirect_uris": [],
        "response_types": [], "grant_types": ["client_credentials"] });
    let members = client.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_and_a_signature() {
    let Some(tools) = Tools::find() else { return };
    let key = rcgen::KeyPair::generate().unwrap();
    let point = key.public_key_raw();
    let part = |bytes: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    let jwk = json!({ "kty": "EC", "crv": "P-256", "kid": "k1", "x": part(&point[1..33]), "y": part(&point[33..65]) });
    let wishes = json!({ "clients": [
        client("secret", "client_secret_basic", &json!({ "client_secret": SECRET })),
        client("signer", "private_key_jwt",
            &json!({ "jwks": { "keys": [jwk] }, "token_endpoint_auth_signing_alg": "ES256" })),
    ] });
    let authority = Authority::start(&tools, &wishes).await.unwrap();
    let secret = json!({ "type": "client_credentials", "client_id": "secret", "client_secret": SECRET });
    let signer = json!({ "type": "private_key_jwt", "client_id": "signer", "private_key": pem(&key), "algorithm": "ES256",
        "key_id": "k1", "scopes": ["tools:read"] });
    for auth in [secret, signer] {
        let guarded = Guarded::start(Some(&authority.issuer)).await;
        let scene = SignIn::start(Kind::Sqlite, guarded, &places(&authority), auth.clone())
            .await
            .unwrap();
        scene.until_ready();
        assert_eq!(scene.call("write").await, ("succeeded".to_owned(), None));
        let shown = scene.shown().await;
        assert_eq!(
            (
                &shown["auth"]["account"]["status"],
                &shown["light"],
                &shown["auth"]["type"]
            ),
            (&"connected".into(), &"green".into(), &auth["type"]),
            "{shown}"
        );
        // Nobody signs in to it.
        let body = json!({ "expected_version": shown["version"] });
        let refused = scene
            .rest(Method::POST, "/connections/guarded/authorizations", &body)
            .await;
        assert_eq!(refused.json()["code"], "authorization.not_oauth");
        // A client the authorization server does not know is said, not tried for ever.
        let mut wrong = auth;
        wrong["client_id"] = "nobody".into();
        let body = json!({ "expected_version": shown["version"], "auth": wrong, "trusted": true });
        let edited = scene.rest(Method::PATCH, "/connections/guarded", &body).await;
        assert_eq!(edited.status, StatusCode::OK, "{}", edited.json());
        let (status, code) = scene.call("read").await;
        assert_eq!(
            (status.as_str(), code.as_deref()),
            ("failed", Some("auth_rejected"))
        );
        let shown = scene.shown().await;
        assert_eq!(
            (&shown["auth"]["account"]["status"], &shown["light"]),
            (&"error".into(), &"red".into()),
            "{shown}"
        );
    }
    let guarded = Guarded::start(None).await;
    let scene = SignIn::start(Kind::Sqlite, guarded, &[], json!({ "type": "none" }))
        .await
        .unwrap();
    let key = json!({ "type": "private_key_jwt", "client_id": "x", "private_key": "not a key", "algorithm": "ES256" });
    let body = json!({ "expected_version": 1, "auth": key });
    let refused = scene.rest(Method::PATCH, "/connections/guarded", &body).await;
    assert_eq!(refused.json()["field"], "auth.private_key", "{}", refused.json());
}
