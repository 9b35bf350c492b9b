//! MCP clients that people let in: found by metadata, registered, allowed, given tokens, thrown out.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::Digest;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::http::Answer;
use url::Url;

use super::{Person, owner, text};
use crate::house::House;
use crate::scene::{Kind, Scene};
use crate::sign_in::rest;

const CALLBACK: &str = "http://127.0.0.1:9/callback";
const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more-x";

/// A client under way.
struct Client<'a> {
    house: &'a House,
    id: String,
    resource: String,
}

/// Sends a form to an endpoint of clients.
async fn form(house: &House, path: &str, fields: &[(&str, &str)]) -> Answer {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    let url = format!("{}{path}", house.url);
    testkit::http::send(Method::POST, &url, &kind, body)
        .await
        .unwrap()
}

async fn get(house: &House, path: &str) -> Answer {
    let url = format!("{}{path}", house.url);
    testkit::http::send(Method::GET, &url, &[], "").await.unwrap()
}

/// Initializes at an MCP endpoint with this credential.
async fn initialize(house: &House, path: &str, token: &str) -> Answer {
    let authorization = format!("Bearer {token}");
    let mut headers = vec![
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    if !token.is_empty() {
        headers.push(("authorization", &authorization));
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
    let url = format!("{}{path}", house.url);
    testkit::http::send(Method::POST, &url, &headers, body.to_string())
        .await
        .unwrap()
}

impl<'a> Client<'a> {
    /// One that registers itself, for the endpoint at this path.
    async fn register(house: &'a House, path: &str) -> Self {
        let body =
            json!({ "client_name": "A <b>client</b>", "redirect_uris": ["http://127.0.0.1/callback"] });
        let url = format!("{}/oauth/register", house.url);
        let kind = [("content-type", "application/json")];
        let made = testkit::http::send(Method::POST, &url, &kind, body.to_string())
            .await
            .unwrap();
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.json());
        let made = made.json();
        assert_eq!(made["token_endpoint_auth_method"], "none", "{made}");
        Self {
            house,
            id: made["client_id"].as_str().unwrap().to_owned(),
            resource: format!("http://127.0.0.1:7100{path}"),
        }
    }

    /// The request a person is sent with, with some of it replaced, or left out where it is empty.
    fn request(&self, with: &[(&str, &str)]) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Digest::of(VERIFIER.as_bytes()).bytes());
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", CALLBACK),
            ("state", "what only the client knows"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &self.resource),
            ("scope", "mcp offline_access"),
        ];
        for (name, value) in with {
            pairs.retain(|(known, _)| known != name);
            pairs.push((name, value));
        }
        url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs.into_iter().filter(|(_, value)| !value.is_empty()))
            .finish()
    }

    /// The person is asked, and answers.
    async fn answered(&self, person: &Person, answer: &[(&str, &str)]) -> Url {
        let request = self.request(&[]);
        let page = format!("{}/oauth/authorize?{request}", self.house.url);
        let asked = person.get(self.house, &page).await;
        let html = text(&asked);
        assert_eq!(asked.status, StatusCode::OK, "{html}");
        assert!(
            html.contains("A &lt;b&gt;client&lt;/b&gt;") && !html.contains("<b>client"),
            "{html}"
        );
        let policy = asked.headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("form-action 'self' http://127.0.0.1:9;"),
            "{policy}"
        );
        let fields: Vec<_> = answer
            .iter()
            .copied()
            .chain([("request", request.as_str())])
            .collect();
        let to = format!("{}/oauth/authorize", self.house.url);
        let gone = person.post(self.house, &to, &fields).await;
        assert_eq!(gone.status, StatusCode::SEE_OTHER, "{}", text(&gone));
        let url: Url = gone.headers["location"].to_str().unwrap().parse().unwrap();
        assert!(url.as_str().starts_with(CALLBACK), "{url}");
        assert_eq!(said(&url, "state").as_deref(), Some("what only the client knows"));
        assert_eq!(said(&url, "iss").as_deref(), Some("http://localhost:7100"));
        url
    }

    async fn code(&self, person: &Person) -> String {
        let url = self
            .answered(person, &[("answer", "allow"), ("agent", "default")])
            .await;
        said(&url, "code").unwrap_or_else(|| panic!("{url}"))
    }

    /// Asks for tokens for a code, with some of it replaced.
    async fn exchange(&self, code: &str, with: &[(&str, &str)]) -> Answer {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", &self.id),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
            ("resource", &self.resource),
        ];
        for (name, value) in with {
            fields.retain(|(known, _)| known != name);
            fields.push((name, value));
        }
        form(self.house, "/oauth/token", &fields).await
    }

    async fn renew(&self, refresh: &str) -> Answer {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh),
            ("client_id", &self.id),
            ("resource", &self.resource),
        ];
        form(self.house, "/oauth/token", &fields).await
    }

    async fn tokens(&self, person: &Person) -> (String, String) {
        let issued = self.exchange(&self.code(person).await, &[]).await;
        tokens(&issued)
    }
}

fn tokens(issued: &Answer) -> (String, String) {
    assert_eq!(issued.status, StatusCode::OK, "{}", issued.json());
    assert_eq!(issued.headers["cache-control"], "no-store");
    let said = issued.json();
    let token = |name: &str| said[name].as_str().unwrap().to_owned();
    (token("access_token"), token("refresh_token"))
}

fn said(url: &Url, wanted: &str) -> Option<String> {
    let found = url.query_pairs().find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.into_owned())
}

fn refused(answer: &Answer, code: &str) {
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", text(answer));
    assert_eq!(answer.json()["error"], code, "{}", answer.json());
}

#[tokio::test(flavor = "multi_thread")]
async fn from_the_first_refusal_to_the_last() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(scene) = Scene::start(kind, "[server]\npublic_url = \"http://localhost:7100\"\n").await
        else {
            continue;
        };
        found(&scene.house).await;
        let person = owner(&scene.house).await;
        let client = Client::register(&scene.house, "/mcp/default").await;
        codes(&client, &person).await;
        spent(&client, &person).await;
        used(&client, &person).await;
        rotated(&client, &person).await;
        chosen(&scene.house, &person).await;
    }
}

/// A client finds the way by what it is refused with. The metadata names this server, and no server behind it.
async fn found(house: &House) {
    let refused = initialize(house, "/mcp/default", "").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    let challenge = refused.headers["www-authenticate"].to_str().unwrap();
    let (_, rest) = challenge.split_once("resource_metadata=\"").unwrap();
    let place: Url = rest.split('"').next().unwrap().parse().unwrap();
    assert_eq!(place.path(), "/.well-known/oauth-protected-resource/mcp/default");
    assert!(
        !challenge.contains("error="),
        "nothing was sent that could be wrong: {challenge}"
    );
    let wrong = initialize(house, "/mcp/default", "made up").await;
    assert!(
        wrong.headers["www-authenticate"]
            .to_str()
            .unwrap()
            .contains("error=\"invalid_token\"")
    );
    let resource = get(house, place.path()).await.json();
    assert_eq!(
        resource["resource"], "http://localhost:7100/mcp/default",
        "{resource}"
    );
    assert_eq!(
        resource["authorization_servers"],
        json!(["http://localhost:7100"])
    );
    // Who has not signed in learns of no agent whether there is one.
    let nobody = get(house, "/.well-known/oauth-protected-resource/mcp/nobody").await;
    assert_eq!(nobody.json()["resource"], "http://localhost:7100/mcp/nobody");
    for path in ["/mcp/-/operator", "/api/v1/agents", "/mcp/a/b/c"] {
        let none = get(house, &format!("/.well-known/oauth-protected-resource{path}")).await;
        assert_eq!(none.status, StatusCode::NOT_FOUND, "{path}");
    }
    let operator = initialize(house, "/mcp/-/operator", "").await;
    assert!(
        !operator.headers["www-authenticate"]
            .to_str()
            .unwrap()
            .contains("resource_metadata")
    );
    let server = get(house, "/.well-known/oauth-authorization-server").await.json();
    assert_eq!(server["issuer"], "http://localhost:7100", "{server}");
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(server["client_id_metadata_document_supported"], true);
    assert_eq!(server["authorization_response_iss_parameter_supported"], true);
}

/// What is asked wrongly.
async fn codes(client: &Client<'_>, person: &Person) {
    let house = client.house;
    // Nobody is sent anywhere while it is not certain where the client is.
    let shown: &[&[(&str, &str)]] = &[
        &[("client_id", "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")],
        &[("client_id", "http://client.example/c")],
        &[("client_id", "")],
        &[("redirect_uri", "https://evil.example/callback")],
        &[("redirect_uri", "http://127.0.0.1:9/other")],
        &[("redirect_uri", "")],
    ];
    for with in shown {
        let page = format!("{}/oauth/authorize?{}", house.url, client.request(with));
        let answer = person.get(house, &page).await;
        assert_eq!(
            answer.status,
            StatusCode::BAD_REQUEST,
            "{with:?}: {}",
            text(&answer)
        );
        assert!(!answer.headers.contains_key("location"), "{with:?}");
    }
    let sent = [
        (("response_type", "token"), "unsupported_response_type"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge", "short"), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("response_mode", "fragment"), "invalid_request"),
        (("resource", ""), "invalid_target"),
        (("resource", "https://other.example/mcp"), "invalid_target"),
        (
            ("resource", "http://localhost:7100/mcp/-/operator"),
            "invalid_target",
        ),
    ];
    for (with, code) in sent {
        let page = format!("{}/oauth/authorize?{}", house.url, client.request(&[with]));
        let answer = person.get(house, &page).await;
        assert_eq!(
            answer.status,
            StatusCode::SEE_OTHER,
            "{with:?}: {}",
            text(&answer)
        );
        let to: Url = answer.headers["location"].to_str().unwrap().parse().unwrap();
        assert_eq!(said(&to, "error").as_deref(), Some(code), "{with:?}: {to}");
        assert_eq!(said(&to, "iss").as_deref(), Some("http://localhost:7100"));
    }
    let away = super::browse(
        house,
        "",
        &format!("{}/oauth/authorize?{}", house.url, client.request(&[])),
    )
    .await;
    let to = away.headers["location"].to_str().unwrap();
    assert!(
        to.starts_with("/sign-in?return_to=%2Foauth%2Fauthorize%3F"),
        "{to}"
    );
    let denied = client.answered(person, &[("answer", "deny")]).await;
    assert_eq!(said(&denied, "error").as_deref(), Some("access_denied"));
}

/// Who exchanges a code that is not theirs, or exchanges it twice.
async fn spent(client: &Client<'_>, person: &Person) {
    let house = client.house;
    // A code is for who asked for it.
    let code = client.code(person).await;
    let other = Client::register(house, "/mcp/default").await;
    let cases: &[((&str, &str), &str)] = &[
        (("client_id", &other.id), "invalid_grant"),
        (
            ("code_verifier", "another-verifier-of-forty-three-characters-xx"),
            "invalid_grant",
        ),
        (("redirect_uri", "http://127.0.0.1:10/callback"), "invalid_grant"),
        (("resource", "http://localhost:7100/mcp/other"), "invalid_target"),
        (("code", "sb_code_made_up"), "invalid_grant"),
        (("grant_type", "client_credentials"), "unsupported_grant_type"),
        (("grant_type", "password"), "unsupported_grant_type"),
        (("code_verifier", ""), "invalid_request"),
    ];
    for (with, wanted) in cases {
        refused(&client.exchange(&code, &[*with]).await, wanted);
    }
    let (access, _) = tokens(&client.exchange(&code, &[]).await);
    assert_eq!(
        initialize(house, "/mcp/default", &access).await.status,
        StatusCode::OK
    );
    // Seen twice it was stolen: what came of it is worth nothing any more.
    refused(&client.exchange(&code, &[]).await, "invalid_grant");
    assert_eq!(
        initialize(house, "/mcp/default", &access).await.status,
        StatusCode::UNAUTHORIZED
    );
}

/// A token is for one agent, at one endpoint, and is nobody's key.
async fn used(client: &Client<'_>, person: &Person) {
    let house = client.house;
    let (access, refresh) = client.tokens(person).await;
    for (path, status) in [
        ("/mcp/default", 200),
        ("/mcp", 401),
        ("/mcp/other", 401),
        ("/mcp/default/up", 401),
        ("/mcp/-/operator", 401),
    ] {
        assert_eq!(initialize(house, path, &access).await.status, status, "{path}");
    }
    for token in [&access, &refresh] {
        let answer = rest(house, token, (Method::GET, "/agents"), &Value::Null).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(
        initialize(house, "/mcp/default", &refresh).await.status,
        StatusCode::UNAUTHORIZED
    );
    let listed = house.json(&["clients", "list"]);
    let last = listed["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["resource"], "/mcp/default", "{listed}");
    assert!(
        last["ended_at"].is_null() && !last["last_used_at"].is_null(),
        "{last}"
    );
    assert_eq!(listed["items"][0]["ended_by"], "replayed", "{listed}");
    // Thrown out, at once.
    let id = last["id"].as_str().unwrap();
    assert_eq!(house.run(&["clients", "revoke", id]).code, 0);
    assert_eq!(
        initialize(house, "/mcp/default", &access).await.status,
        StatusCode::UNAUTHORIZED
    );
    refused(&client.renew(&refresh).await, "invalid_grant");
    let record = house.json(&["audit", "list", "--limit", "100"]).to_string();
    assert!(
        record.contains("clients.allow") && record.contains("mcp_client"),
        "{record}"
    );
    assert!(!record.contains(&access) && !house.log().contains(&access) && !house.log().contains(&refresh));
}

/// Refresh tokens are good once.
async fn rotated(client: &Client<'_>, person: &Person) {
    let house = client.house;
    let (first, refresh) = client.tokens(person).await;
    let (second, next) = tokens(&client.renew(&refresh).await);
    assert!(first != second && refresh != next);
    for access in [&first, &second] {
        assert_eq!(
            initialize(house, "/mcp/default", access).await.status,
            StatusCode::OK
        );
    }
    let other = Client::register(house, "/mcp/default").await;
    refused(&other.renew(&next).await, "invalid_grant");
    // The first one again: whoever sends it, one of two has stolen it.
    refused(&client.renew(&refresh).await, "invalid_grant");
    refused(&client.renew(&next).await, "invalid_grant");
    assert_eq!(
        initialize(house, "/mcp/default", &second).await.status,
        StatusCode::UNAUTHORIZED
    );
    // Given back (RFC 7009), by whoever it belongs to; what is none is given back already.
    let (access, refresh) = client.tokens(person).await;
    let give = async |token: &str, id: &str| {
        form(house, "/oauth/revoke", &[("token", token), ("client_id", id)]).await
    };
    for (token, id, stands) in [
        ("nothing", &client.id, true),
        (&refresh, &other.id, true),
        (&refresh, &client.id, false),
    ] {
        assert_eq!(give(token, id).await.status, StatusCode::OK);
        let answer = initialize(house, "/mcp/default", &access).await;
        assert_eq!(answer.status == StatusCode::OK, stands, "{token} {id}");
    }
}

/// At `/mcp` the person says which agent.
async fn chosen(house: &House, person: &Person) {
    let client = Client::register(house, "/mcp").await;
    let (access, _) = client.tokens(person).await;
    assert_eq!(initialize(house, "/mcp", &access).await.status, StatusCode::OK);
    assert_eq!(
        initialize(house, "/mcp/default", &access).await.status,
        StatusCode::UNAUTHORIZED
    );
    let nobody = Client::register(house, "/mcp/nobody").await;
    let page = format!("{}/oauth/authorize?{}", house.url, nobody.request(&[]));
    assert_eq!(person.get(house, &page).await.status, StatusCode::FORBIDDEN);
}
