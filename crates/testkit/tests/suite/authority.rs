//! Signing in at a real authorization server: registration, consent, tokens, rotation, refusals.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use domain::{Clock, Secret};
use mcp::egress::Egress;
use mcp::http::{HttpClient, HttpOptions};
use mcp::oauth::{
    Answer, AuthorizationRequest, Client, ClientAuth, Discovery, Grant, OAuthError, Pkce, Registration,
    ServerMetadata, SigningKey, TokenRequest, Tokens, Waiting,
};
use serde_json::{Value, json};
use testkit::authority::{Authority, sign_in};
use testkit::tools::Tools;
use tokio::time::Instant;
use url::Url;

const RESOURCE: &str = "https://mcp.example/mcp";

struct Scene {
    authority: Authority,
    http: HttpClient,
    server: ServerMetadata,
    back: Url,
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

impl Scene {
    async fn start(wishes: Value) -> Option<Self> {
        let tools = Tools::find()?;
        let authority = Authority::start(&tools, &wishes).await.unwrap();
        let mut egress = Egress::public();
        for path in [
            "/.well-known/oauth-authorization-server",
            "/.well-known/openid-configuration",
            "/token",
            "/reg",
        ] {
            egress = egress.register(&format!("{}{path}", authority.issuer)).unwrap();
        }
        let options = HttpOptions {
            egress: Arc::new(egress),
            ..HttpOptions::default()
        };
        let http = HttpClient::new(options).unwrap();
        let discovery = Discovery {
            http: &http,
            deadline: soon(),
        };
        let server = discovery.server(&authority.issuer).await.unwrap();
        Some(Self {
            authority,
            http,
            server,
            back: Url::parse("http://localhost:7100/api/mcp/auth/callback").unwrap(),
        })
    }

    /// Goes through the browser and exchanges the code.
    async fn tokens(&self, client: &Client, more: &[(&str, &str)]) -> Result<Tokens, OAuthError> {
        let pkce = Pkce::generate().unwrap();
        let (scopes, more) = (
            ["openid", "offline_access", "tools:call"].map(str::to_owned),
            more.iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect::<Vec<_>>(),
        );
        let request = AuthorizationRequest {
            client_id: &client.id,
            redirect_uri: &self.back,
            resource: RESOURCE,
            scopes: &scopes,
            state: "the-state",
            consent: true,
            more: &more,
        };
        let url = request.url(&self.server, &pkce).unwrap();
        let landed = sign_in(url, &self.back).await.unwrap();
        let waiting = Waiting {
            state: "the-state",
            issuer: &self.server.issuer,
            names_itself: self.server.authorization_response_iss_parameter_supported,
        };
        let code = Answer::of_query(landed.query().unwrap())
            .unwrap()
            .code(&waiting)?;
        let grant = Grant::Code {
            code: &code,
            verifier: &pkce.verifier,
            redirect_uri: &self.back,
        };
        self.send(grant, client).await
    }

    async fn send(&self, grant: Grant<'_>, client: &Client) -> Result<Tokens, OAuthError> {
        let request = TokenRequest {
            http: &self.http,
            server: &self.server,
            client,
            resource: RESOURCE,
            scopes: &["tools:read".to_owned()],
            now: Clock::System.now(),
            deadline: soon(),
        };
        request.send(grant).await
    }
}

/// What the token says of itself.
fn claims(token: &Secret) -> Value {
    let body = token.expose().split('.').nth(1).unwrap().to_owned();
    serde_json::from_slice(
        &base64::engine::general_purpose::URL_SAFE_NO_PAD
            .decode(body)
            .unwrap(),
    )
    .unwrap()
}

fn client(id: &str, auth: ClientAuth) -> Client {
    Client {
        id: id.to_owned(),
        auth,
    }
}

/// A client that the server knows beforehand.
fn known(id: &str, method: &str) -> Value {
    let mut client = json!({
        "client_id": id, "token_endpoint_auth_method": method, "application_type": "native",
        "redirect_uris": ["http://localhost:7100/api/mcp/auth/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
    });
    if method != "none" {
        client["client_secret"] = "a secret of 32 characters, or so!".into();
    }
    client
}

#[tokio::test]
async fn a_client_that_registers_itself() {
    let Some(scene) = Scene::start(json!({})).await else {
        return;
    };
    assert_eq!(scene.server.issuer, scene.authority.issuer);
    let registration = Registration {
        name: "Switchboard".to_owned(),
        redirect_uri: scene.back.clone(),
        uri: None,
    };
    let client = registration
        .send(&scene.http, &scene.server, soon())
        .await
        .unwrap();
    let tokens = scene.tokens(&client, &[]).await.unwrap();
    let said = claims(&tokens.access);
    assert_eq!(said["aud"], RESOURCE, "{said}");
    assert_eq!(said["sub"], "ada");
    assert_eq!(tokens.lifetime, Some(Duration::from_secs(3600)));
    assert!(tokens.refresh.is_some());
}

#[tokio::test]
async fn clients_that_were_registered_by_hand() {
    let secret = || Secret::new("a secret of 32 characters, or so!");
    let clients = [
        known("public", "none"),
        known("basic", "client_secret_basic"),
        known("post", "client_secret_post"),
    ];
    let Some(scene) = Scene::start(json!({ "clients": clients })).await else {
        return;
    };
    for (id, auth) in [
        ("public", ClientAuth::None),
        ("basic", ClientAuth::Basic(secret())),
        ("post", ClientAuth::Post(secret())),
    ] {
        let client = client(id, auth);
        let first = scene.tokens(&client, &[]).await.unwrap();
        let refresh = first.refresh.unwrap();
        let second = scene.send(Grant::Refresh(&refresh), &client).await.unwrap();
        assert_eq!(claims(&second.access)["aud"], RESOURCE, "{id}");
        if id == "public" {
            // Public clients' refresh tokens rotate; who uses an old one has stolen it, and the new one goes too.
            let new = second.refresh.unwrap();
            assert_ne!(new.expose(), refresh.expose());
            let stolen = scene.send(Grant::Refresh(&refresh), &client).await.unwrap_err();
            assert!(stolen.grant_is_gone(), "{stolen}");
            let gone = scene.send(Grant::Refresh(&new), &client).await.unwrap_err();
            assert!(gone.grant_is_gone(), "{gone}");
        }
    }
    let wrong = client("basic", ClientAuth::Basic(Secret::new("wrong")));
    let refused = scene
        .send(Grant::Refresh(&Secret::new("x")), &wrong)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, OAuthError::Refused { code, .. } if code == "invalid_client"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_person_who_says_no() {
    let Some(scene) = Scene::start(json!({ "clients": [known("public", "none")] })).await else {
        return;
    };
    let no = scene
        .tokens(&client("public", ClientAuth::None), &[("login_hint", "deny")])
        .await
        .unwrap_err();
    let OAuthError::Refused {
        code, description, ..
    } = &no
    else {
        panic!("{no:?}")
    };
    assert_eq!(
        (code.as_str(), description.as_deref()),
        ("access_denied", Some("ada says no"))
    );
}

#[tokio::test]
async fn clients_without_a_person() {
    let key = rcgen::KeyPair::generate().unwrap();
    let point = key.public_key_raw();
    let text = |bytes: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    let jwk = json!({ "kty": "EC", "crv": "P-256", "kid": "k1", "x": text(&point[1..33]), "y": text(&point[33..65]) });
    let alone = |id: &str, method: &str, more: Value| {
        let mut client = json!({
            "client_id": id, "token_endpoint_auth_method": method, "redirect_uris": [], "response_types": [],
            "grant_types": ["client_credentials"],
        });
        client
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        client
    };
    let clients = [
        alone(
            "secret",
            "client_secret_basic",
            json!({ "client_secret": "a secret of 32 characters, or so!" }),
        ),
        alone(
            "signer",
            "private_key_jwt",
            json!({ "jwks": { "keys": [jwk] }, "token_endpoint_auth_signing_alg": "ES256" }),
        ),
    ];
    let Some(scene) = Scene::start(json!({ "clients": clients })).await else {
        return;
    };
    let pem = |key: &rcgen::KeyPair| {
        let der = base64::engine::general_purpose::STANDARD.encode(key.serialize_der());
        Secret::new(format!(
            "-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n"
        ))
    };
    let signed = |key: &rcgen::KeyPair| {
        ClientAuth::Key(SigningKey::from_pem(&pem(key), "ES256", Some("k1".to_owned())).unwrap())
    };
    for (id, auth) in [
        (
            "secret",
            ClientAuth::Basic(Secret::new("a secret of 32 characters, or so!")),
        ),
        ("signer", signed(&key)),
    ] {
        let tokens = scene
            .send(Grant::ClientCredentials, &client(id, auth))
            .await
            .unwrap();
        let said = claims(&tokens.access);
        assert_eq!(
            (&said["aud"], &said["scope"]),
            (&RESOURCE.into(), &"tools:read".into()),
            "{id}"
        );
        assert!(tokens.refresh.is_none(), "{id}");
    }
    let other = rcgen::KeyPair::generate().unwrap();
    let refused = scene
        .send(Grant::ClientCredentials, &client("signer", signed(&other)))
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, OAuthError::Refused { code, .. } if code == "invalid_client"),
        "{refused}"
    );
}
