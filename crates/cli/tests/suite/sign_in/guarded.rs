//! A server that wants a token, and an authorization server that gives them, rotates them, and can be told to misbehave.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use serde_json::{Value, json};
use testkit::scripted::{Received, Reply, Scripted};
use tokio_util::sync::CancellationToken;
use url::form_urlencoded;

/// The server. Its own authorization server is at the same address.
pub(crate) struct Guarded {
    server: Scripted,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Another authorization server, whose tokens are JWTs.
    issuer: Option<String>,
    /// Tokens that are not taken any more.
    revoked: HashSet<String>,
    /// How many tokens its own authorization server gave.
    given: u32,
    /// What the token endpoint answers instead of a token.
    refusal: Option<(u16, Value)>,
    /// Whether its tool `write` answers with what it was sent.
    tells: bool,
    /// Whether it takes whatever credential it is sent.
    open: bool,
    /// The scopes that its tool `write` wants and no token has.
    demand: Option<String>,
    /// What the token endpoint's answers wait for.
    gate: Option<CancellationToken>,
    /// Members of the answer that replace the usual ones; null takes one away.
    answer: Value,
}

impl Guarded {
    /// Starts it, with tools `read` and `write`.
    pub(crate) async fn start(issuer: Option<&str>) -> Self {
        let state = Arc::new(Mutex::new(State {
            issuer: issuer.map(str::to_owned),
            ..State::default()
        }));
        let known = state.clone();
        let server = Scripted::start(move |request| known.lock().unwrap().reply(request));
        Self {
            server: server.await.unwrap(),
            state,
        }
    }

    /// Its MCP endpoint.
    pub(crate) fn url(&self) -> &str {
        self.server.url()
    }

    /// Its origin, which is also its own issuer.
    pub(crate) fn origin(&self) -> &str {
        self.server.url().strip_suffix("/mcp").unwrap()
    }

    /// Every address of it that signing in asks for.
    pub(crate) fn places(&self) -> Vec<String> {
        [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            "/token",
            "/register",
            "/revoke",
        ]
        .map(|path| format!("{}{path}", self.origin()))
        .to_vec()
    }

    /// Takes the token given last no more.
    pub(crate) fn revoke(&self) {
        let mut state = self.state.lock().unwrap();
        let token = format!("at-{}", state.given);
        state.revoked.insert(token);
    }

    /// What the token endpoint answers instead of a token from now on.
    pub(crate) fn refuse(&self, refusal: Option<(u16, Value)>) {
        self.state.lock().unwrap().refusal = refusal;
    }

    /// What is other in its answers from now on.
    pub(crate) fn answer(&self, answer: Value) {
        self.state.lock().unwrap().answer = answer;
    }

    /// Which scopes its tool `write` wants from now on that no token has.
    pub(crate) fn demand(&self, scopes: Option<&str>) {
        self.state.lock().unwrap().demand = scopes.map(str::to_owned);
    }

    /// Whether it takes whatever credential it is sent from now on, and repeats it in errors.
    pub(crate) fn repeat(&self, repeats: bool) {
        let mut state = self.state.lock().unwrap();
        (state.tells, state.open) = (repeats, repeats);
    }

    /// Lets requests for tokens wait, until the gate is cancelled.
    pub(crate) fn hold(&self) -> CancellationToken {
        let gate = CancellationToken::new();
        self.state.lock().unwrap().gate = Some(gate.clone());
        gate
    }

    /// The requests for tokens so far, as forms.
    pub(crate) fn asked(&self) -> Vec<Vec<(String, String)>> {
        let token = |request: &Received| request.uri.path() == "/token";
        let received = self.server.received();
        received
            .iter()
            .filter(|request| token(request))
            .map(|request| form_urlencoded::parse(&request.body).into_owned().collect())
            .collect()
    }

    /// The refresh tokens that were given back.
    pub(crate) fn given_back(&self) -> Vec<String> {
        let received = self.server.received();
        let form = |request: &Received| {
            form_urlencoded::parse(&request.body)
                .into_owned()
                .collect::<Vec<_>>()
        };
        received
            .iter()
            .filter(|request| request.uri.path() == "/revoke")
            .flat_map(form)
            .filter_map(|(name, value)| (name == "token").then_some(value))
            .collect()
    }

    /// The credentials its tools were called with, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = self.server.received_of("tools/call");
        calls
            .iter()
            .map(|call| call.header("authorization").unwrap_or_default().to_owned())
            .collect()
    }
}

impl State {
    fn reply(&mut self, request: &Received) -> Reply {
        let origin = format!("http://{}", request.header("host").unwrap_or_default());
        match request.uri.path() {
            "/.well-known/oauth-protected-resource/mcp" => {
                let issuer = self.issuer.as_deref().unwrap_or(&origin);
                Reply::json(
                    200,
                    &json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [issuer],
                        "scopes_supported": ["tools:read", "tools:call"] }),
                )
            }
            "/.well-known/oauth-authorization-server" => Reply::json(
                200,
                &json!({ "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                    "token_endpoint": format!("{origin}/token"),
                    "revocation_endpoint": format!("{origin}/revoke"), "registration_endpoint": format!("{origin}/register"),
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
                    "code_challenge_methods_supported": ["S256"],
                    "authorization_response_iss_parameter_supported": true }),
            ),
            "/register" => Reply::json(201, &json!({ "client_id": "registered" })),
            "/token" => self.token(request),
            "/revoke" => Reply::status(200),
            "/mcp" => self.mcp(request, &origin),
            _ => Reply::status(404),
        }
    }

    fn token(&mut self, request: &Received) -> Reply {
        let form: Vec<(String, String)> = form_urlencoded::parse(&request.body).into_owned().collect();
        let field = |wanted: &str| {
            form.iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| &**value)
        };
        let newest = format!("rt-{}", self.given);
        let stale = field("refresh_token").is_some_and(|token| token != newest);
        let reply = match &self.refusal {
            Some((status, body)) => Reply::json(*status, body),
            None if stale => Reply::json(400, &json!({ "error": "invalid_grant" })),
            None => {
                self.given += 1;
                let mut body = json!({ "access_token": format!("at-{}", self.given), "token_type": "Bearer",
                    "expires_in": 3600, "refresh_token": format!("rt-{}", self.given) });
                for (name, value) in self.answer.as_object().into_iter().flatten() {
                    body[name] = value.clone();
                }
                Reply::json(200, &body)
            }
        };
        match &self.gate {
            Some(gate) => reply.after(gate.clone()),
            None => reply,
        }
    }

    fn mcp(&self, request: &Received, origin: &str) -> Reply {
        let token = request
            .header("authorization")
            .and_then(|value| value.strip_prefix("Bearer "));
        let good = token.is_some_and(|token| match &self.issuer {
            Some(_) => audience(token).as_deref() == Some(&format!("{origin}/mcp")),
            None => token == format!("at-{}", self.given) && !self.revoked.contains(token),
        });
        if !good && !self.open {
            let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
            let challenge = format!("Bearer error=\"invalid_token\", resource_metadata=\"{metadata}\"");
            return Reply::status(401).header("www-authenticate", &challenge);
        }
        let writes = request.json()["params"]["name"] == "write";
        if let Some(scopes) = self.demand.as_deref().filter(|_| writes) {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scopes}\"");
            return Reply::status(403).header("www-authenticate", &challenge);
        }
        let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
        match request.rpc_method().as_deref() {
            Some("tools/list") => Reply::result(request, json!({ "tools": [tool("read"), tool("write")] })),
            Some("tools/call") if writes && self.tells => {
                // A server that repeats what it was sent.
                let said = format!("{:?}", request.headers);
                Reply::error(request, -32000, &said)
            }
            Some("tools/call") => {
                let text = json!({ "type": "text", "text": "done" });
                Reply::result(request, json!({ "content": [text] }))
            }
            _ => Reply::legacy(request),
        }
    }
}

/// Whom a JWT says that it is for. Whether it is signed is not looked at: it comes from a real authorization server.
fn audience(token: &str) -> Option<String> {
    let body = token.split('.').nth(1)?;
    let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(body)
        .ok()?;
    let claims: Value = serde_json::from_slice(&bytes).ok()?;
    Some(claims["aud"].as_str()?.to_owned())
}
