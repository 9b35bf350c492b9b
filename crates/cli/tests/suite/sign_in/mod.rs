//! Signing in to servers, from the first refusal to renewed tokens: the real binary on both databases.

mod flow;
pub(crate) mod guarded;
mod own;
mod renewal;
mod replicas;
mod secrets;

use std::path::PathBuf;

use base64::Engine as _;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use store::RootKey;
use tempfile::TempDir;
use testkit::database::Database;
use testkit::http::Answer;
use url::Url;

use self::guarded::Guarded;
use crate::house::{House, Start, until};
use crate::scene::Kind;

/// Where people reach it, as they see it; nothing listens there.
const PUBLIC: &str = "http://localhost:7100";
/// Where authorization servers send people back to. Requirement V141.
const CALLBACK: &str = "http://localhost:7100/api/mcp/auth/callback";

/// A served Switchboard with a connection `guarded` to a server that wants a token.
pub(crate) struct SignIn {
    pub(crate) house: House,
    pub(crate) guarded: Guarded,
    pub(crate) database: Database,
}

/// How it is configured: where, and with which environment.
pub(crate) struct Configured {
    pub(crate) database: Database,
    pub(crate) folder: TempDir,
    pub(crate) start: Start,
}

/// Configures a server that may reach these addresses; none where there is no server for the database.
pub(crate) async fn configured(kind: Kind, guarded: &Guarded, more: &[String]) -> Option<Configured> {
    let folder = tempfile::tempdir().unwrap();
    let entry =
        |purpose: &str, url: &str| format!("[[internal_urls]]\npurpose = \"{purpose}\"\nurl = \"{url}\"\n");
    let mut config = format!("[server]\npublic_url = \"{PUBLIC}\"\n");
    config.push_str(&entry("mcp", guarded.url()));
    for url in guarded.places().iter().chain(more) {
        config.push_str(&entry("oauth", url));
    }
    let mut environment = Vec::new();
    let database = match kind {
        Kind::Sqlite => Database::sqlite(&folder.path().join("data/switchboard.db")),
        Kind::Postgres => {
            let Some(database) = Database::postgres().await.unwrap() else {
                println!("left out: SWITCHBOARD_TEST_POSTGRES names no server");
                return None;
            };
            config.push_str("[store]\nbackend = \"postgres\"\nurl = { env = \"TEST_DATABASE\" }\n");
            config.push_str("[vault]\nkey = { env = \"TEST_VAULT_KEY\" }\n");
            let key = RootKey::generate().unwrap().to_base64();
            environment = vec![
                ("TEST_DATABASE".to_owned(), database.url().unwrap()),
                ("TEST_VAULT_KEY".to_owned(), key.expose().to_owned()),
                (
                    "MCP_OAUTH_STATE_SIGNING_SECRET".to_owned(),
                    "the same text for all replicas, long enough".to_owned(),
                ),
            ];
            database
        }
    };
    let path: PathBuf = folder.path().join("config.toml");
    std::fs::write(&path, config).unwrap();
    let start = Start {
        options: ["--no-sample", "--config", path.to_str().unwrap()]
            .map(str::to_owned)
            .to_vec(),
        environment,
        within: Vec::new(),
    };
    Some(Configured {
        database,
        folder,
        start,
    })
}

impl SignIn {
    /// Starts it with a connection that is not signed in.
    pub(crate) async fn start(kind: Kind, guarded: Guarded, more: &[String], auth: Value) -> Option<Self> {
        let Configured {
            database,
            folder,
            start,
        } = configured(kind, &guarded, more).await?;
        let house = House::start_as(folder, start);
        let scene = Self {
            house,
            guarded,
            database,
        };
        let body = json!({ "label": "guarded", "url": scene.guarded.url(), "transport": "streamable_http",
            "trusted": true, "auth": auth });
        let added = scene.rest(Method::POST, "/connections", &body).await;
        assert_eq!(added.status, StatusCode::CREATED, "{}", added.json());
        Some(scene)
    }

    /// The same with its own authorization server, signed in.
    pub(crate) async fn signed_in(kind: Kind) -> Option<Self> {
        let guarded = Guarded::start(None).await;
        let scene = Self::start(kind, guarded, &[], json!({ "type": "oauth" })).await?;
        let landed = scene.sign_in().await;
        assert_eq!(landed.status, StatusCode::OK, "{}", text(&landed));
        scene.until_ready();
        Some(scene)
    }

    /// A request of the administrator.
    pub(crate) async fn rest(&self, method: Method, path: &str, body: &Value) -> Answer {
        rest(&self.house, &self.house.admin, (method, path), body).await
    }

    /// The connection as it is shown.
    pub(crate) async fn shown(&self) -> Value {
        self.rest(Method::GET, "/connections/guarded", &Value::Null)
            .await
            .json()
    }

    /// Begins a sign-in.
    pub(crate) async fn begin(&self) -> Value {
        let version = self.shown().await["version"].clone();
        let body = json!({ "expected_version": version });
        let begun = self
            .rest(Method::POST, "/connections/guarded/authorizations", &body)
            .await;
        assert_eq!(begun.status, StatusCode::CREATED, "{}", begun.json());
        begun.json()
    }

    /// Goes through a sign-in that was begun: where the browser is sent, and what it keeps.
    pub(crate) async fn open(&self, begun: &Value) -> (Url, String) {
        open(&self.house, begun).await
    }

    /// Comes back with this query and these cookies.
    pub(crate) async fn back(&self, query: &str, cookies: &str) -> Answer {
        back(&self.house, query, cookies).await
    }

    /// Signs in at the server's own authorization server, which asks nothing.
    pub(crate) async fn sign_in(&self) -> Answer {
        let (url, cookie) = self.open(&self.begin().await).await;
        self.back(&self.answer(&url, "code=the-code"), &cookie).await
    }

    /// The query with which the server's own authorization server sends people back.
    pub(crate) fn answer(&self, url: &Url, said: &str) -> String {
        let issuer =
            url::form_urlencoded::byte_serialize(self.guarded.origin().as_bytes()).collect::<String>();
        format!("{said}&state={}&iss={issuer}", parameter(url, "state"))
    }

    /// Waits until what the server offers is known, and gives it to the agent.
    pub(crate) fn until_ready(&self) {
        until("its tools are known", || {
            let tools = self.house.json(&["tools", "list", "--connection", "guarded"]);
            (tools["items"].as_array().unwrap().len() == 2).then_some(())
        });
        let classify = [
            "tools",
            "classify",
            "guarded",
            "read",
            "--risk",
            "low",
            "--effect",
            "read_only",
        ];
        self.house.json(&classify);
        for tool in ["read", "write"] {
            let set = [
                "grants",
                "set",
                "default",
                "--connection",
                "guarded",
                "--tool",
                tool,
            ];
            self.house
                .json(&[&set[..], &["--permission", "unattended"]].concat());
        }
    }

    /// Waits for something that is sure to come.
    pub(crate) async fn until(&self, what: &str, mut happened: impl FnMut() -> bool) {
        self.until_told(what, async || happened()).await;
    }

    /// The same where somebody has to be asked.
    pub(crate) async fn until_told(&self, what: &str, mut happened: impl AsyncFnMut() -> bool) {
        let told = async || happened().await.then_some(());
        crate::house::until_told(&self.house, what, told).await;
    }

    /// Calls a tool as the agent: its status, and the code of its outcome.
    pub(crate) async fn call(&self, tool: &str) -> (String, Option<String>) {
        call(&self.house, tool).await
    }
}

/// A request with a key.
pub(crate) async fn rest(house: &House, key: &str, (method, path): (Method, &str), body: &Value) -> Answer {
    let url = format!("{}/api/v1{path}", house.url);
    let authorization = format!("Bearer {key}");
    let mut headers = vec![("authorization", &*authorization)];
    let body = if body.is_null() {
        String::new()
    } else {
        headers.push(("content-type", "application/json"));
        body.to_string()
    };
    testkit::http::send(method, &url, &headers, body).await.unwrap()
}

/// Calls a tool as the agent.
pub(crate) async fn call(house: &House, tool: &str) -> (String, Option<String>) {
    let body = json!({ "name": format!("guarded__{tool}"), "arguments": {} });
    let answer = rest(house, &house.agent, (Method::POST, "/tools/call"), &body).await;
    let said = answer.json();
    let text = |name: &str| said[name].as_str().map(str::to_owned);
    (text("status").unwrap_or_else(|| said.to_string()), text("code"))
}

/// Goes through a sign-in.
pub(crate) async fn open(house: &House, begun: &Value) -> (Url, String) {
    let page = begun["connect_url"].as_str().unwrap();
    assert_eq!(
        page,
        format!("{PUBLIC}/connect/{}", begun["id"].as_str().unwrap())
    );
    let here = page.replace(PUBLIC, &house.url);
    let person = crate::people::owner(house).await;
    let shown = person.get(house, &here).await;
    assert!(text(&shown).contains(CALLBACK), "{}", text(&shown));
    let gone = person.post(house, &here, &[]).await;
    assert_eq!(gone.status, StatusCode::SEE_OTHER, "{}", text(&gone));
    let cookie = gone.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    let url = gone.headers["location"].to_str().unwrap().parse().unwrap();
    (url, cookie.split(';').next().unwrap().to_owned())
}

/// Comes back from an authorization server.
pub(crate) async fn back(house: &House, query: &str, cookies: &str) -> Answer {
    let url = format!("{}/api/mcp/auth/callback?{query}", house.url);
    testkit::http::send(Method::GET, &url, &[("cookie", cookies)], "")
        .await
        .unwrap()
}

/// A parameter of an address.
pub(crate) fn parameter(url: &Url, wanted: &str) -> String {
    let found = url.query_pairs().find(|(name, _)| name == wanted);
    found
        .unwrap_or_else(|| panic!("{wanted} in {url}"))
        .1
        .into_owned()
}

/// How a connection's account stands: its status, whether it is renewed and configured, and the light.
pub(crate) fn standing(shown: &Value) -> String {
    let account = &shown["auth"]["account"];
    let renewed = if account["refresh_supported"] == true {
        ", renewed"
    } else {
        ""
    };
    let configured = if shown["auth"]["configured"] == true {
        ", configured"
    } else {
        ""
    };
    let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    format!(
        "{}{renewed}{configured} {}",
        word(&account["status"]),
        word(&shown["light"])
    )
}

/// A private key as people give it.
pub(crate) fn pem(key: &rcgen::KeyPair) -> String {
    let der = base64::engine::general_purpose::STANDARD.encode(key.serialize_der());
    format!("-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n")
}

/// An answer as text.
pub(crate) fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}
