//! Finding authorization servers, registering and getting tokens, against a server that says exactly what the case says. The traps are
//! those of servers people use.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use domain::{Secret, Timestamp};
use mcp::egress::{Egress, FixedNames, Resolver};
use mcp::http::{HttpClient, HttpOptions};
use mcp::oauth::{
    Challenge, Client, ClientAuth, Discovery, Grant, OAuthError, Registration, ServerMetadata, SigningKey,
    TokenRequest,
};
use tokio::time::Instant;
use url::Url;

use crate::origin::{Origin, Reply, header, response};

/// A path and what is there: status and JSON, in which `{}` stands for the server's origin.
type Place = (&'static str, u16, &'static str);

const PRM: &str = "/.well-known/oauth-protected-resource";
const PRM_MCP: &str = "/.well-known/oauth-protected-resource/mcp";
const AS: &str = "/.well-known/oauth-authorization-server";
const OIDC: &str = "/.well-known/openid-configuration";
const RESOURCE: &str = r#"{"resource":"{}/mcp","authorization_servers":["{}"],"scopes_supported":["a","b"]}"#;
const SERVER: &str = r#"{"issuer":"{}","token_endpoint":"{}/token"}"#;

struct Case {
    what: &'static str,
    places: &'static [Place],
    /// The challenge of the endpoint.
    challenge: &'static str,
    issuer: Option<&'static str>,
    /// Resource, issuer and scopes, or the code of the error.
    found: &'static str,
}

const fn case(what: &'static str, places: &'static [Place], found: &'static str) -> Case {
    Case {
        what,
        places,
        challenge: "",
        issuer: None,
        found,
    }
}

const fn challenged(
    what: &'static str,
    challenge: &'static str,
    places: &'static [Place],
    found: &'static str,
) -> Case {
    Case {
        challenge,
        ..case(what, places, found)
    }
}

const fn chosen(
    what: &'static str,
    issuer: &'static str,
    places: &'static [Place],
    found: &'static str,
) -> Case {
    Case {
        issuer: Some(issuer),
        ..case(what, places, found)
    }
}

const TWO: &str = r#"{"resource":"{}","authorization_servers":["{}/one","{}/two"]}"#;

const CASES: &[Case] = &[
    case(
        "both documents",
        &[(PRM_MCP, 200, RESOURCE), (AS, 200, SERVER)],
        "{}/mcp {} a+b",
    ),
    // Google Workspace, Atlassian: nothing at the root.
    case(
        "behind the path only",
        &[(PRM, 404, ""), (PRM_MCP, 200, RESOURCE), (AS, 200, SERVER)],
        "{}/mcp {} a+b",
    ),
    case(
        "at the root only",
        &[(PRM, 200, RESOURCE), (AS, 200, SERVER)],
        "{}/mcp {} a+b",
    ),
    // Slack, Linear: the resource is the origin.
    case(
        "a resource above the endpoint",
        &[
            (
                PRM_MCP,
                200,
                r#"{"resource":"{}","authorization_servers":["{}"]}"#,
            ),
            (AS, 200, SERVER),
        ],
        "{} {} ",
    ),
    // Tavily: slashes.
    case(
        "slashes at the end",
        &[
            (
                PRM_MCP,
                200,
                r#"{"resource":"{}/mcp/","authorization_servers":["{}/"]}"#,
            ),
            (AS, 200, SERVER),
        ],
        "{}/mcp/ {} ",
    ),
    case(
        "a resource elsewhere",
        &[
            (
                PRM_MCP,
                200,
                r#"{"resource":"https://evil.example/mcp","authorization_servers":["{}"]}"#,
            ),
            (AS, 200, SERVER),
        ],
        "oauth.other_resource",
    ),
    case(
        "a resource beside the endpoint",
        &[
            (
                PRM_MCP,
                200,
                r#"{"resource":"{}/mcp2","authorization_servers":["{}"]}"#,
            ),
            (AS, 200, SERVER),
        ],
        "oauth.other_resource",
    ),
    challenged(
        "where the challenge says",
        "Bearer resource_metadata=\"{}/meta?x=1\", scope=\"c d\"",
        &[("/meta?x=1", 200, RESOURCE), (AS, 200, SERVER)],
        "{}/mcp {} c+d",
    ),
    // Stripe.
    challenged(
        "where the challenge says, not quoted",
        "Bearer resource_metadata={}/meta",
        &[("/meta", 200, RESOURCE), (AS, 200, SERVER)],
        "{}/mcp {} a+b",
    ),
    challenged(
        "where the challenge says is nothing",
        "Bearer resource_metadata=\"{}/meta\"",
        &[("/meta", 404, "gone"), (PRM, 200, RESOURCE), (AS, 200, SERVER)],
        "oauth.status",
    ),
    challenged(
        "the challenge leads away",
        "Bearer resource_metadata=\"https://127.0.0.1/meta\"",
        &[(PRM, 200, RESOURCE), (AS, 200, SERVER)],
        "oauth.unreachable",
    ),
    // Intercom, Zapier: no metadata of the resource.
    challenged(
        "a challenge that says nothing",
        "Bearer error=\"invalid_token\"",
        &[(AS, 200, SERVER)],
        "{}/mcp {} ",
    ),
    case(
        "OpenID Connect at the origin",
        &[(OIDC, 200, SERVER)],
        "{}/mcp {} ",
    ),
    case(
        "a resource that names nobody",
        &[(PRM, 200, r#"{"resource":"{}"}"#), (AS, 200, SERVER)],
        "{}/mcp {} ",
    ),
    // Stripe: the issuer has a path.
    case(
        "an issuer with a path, inserted",
        &[
            (PRM, 200, r#"{"resource":"{}","authorization_servers":["{}/as"]}"#),
            (
                "/.well-known/oauth-authorization-server/as",
                200,
                r#"{"issuer":"{}/as"}"#,
            ),
            (AS, 200, SERVER),
        ],
        "{} {}/as ",
    ),
    case(
        "an issuer with a path, appended",
        &[
            (PRM, 200, r#"{"resource":"{}","authorization_servers":["{}/as"]}"#),
            (
                "/as/.well-known/openid-configuration",
                200,
                r#"{"issuer":"{}/as"}"#,
            ),
            (AS, 200, SERVER),
        ],
        "{} {}/as ",
    ),
    case(
        "metadata of another issuer",
        &[
            (PRM, 200, RESOURCE),
            (AS, 200, r#"{"issuer":"https://evil.example"}"#),
        ],
        "oauth.other_issuer",
    ),
    case(
        "metadata of another path",
        &[
            (PRM, 200, r#"{"resource":"{}","authorization_servers":["{}/as"]}"#),
            ("/.well-known/oauth-authorization-server/as", 200, SERVER),
        ],
        "oauth.other_issuer",
    ),
    case(
        "the right metadata comes after others",
        &[
            (PRM, 200, RESOURCE),
            (AS, 200, r#"{"issuer":"https://evil.example"}"#),
            (OIDC, 200, SERVER),
        ],
        "{}/mcp {} a+b",
    ),
    case("two issuers", &[(PRM, 200, TWO)], "oauth.issuer_required"),
    chosen(
        "two issuers, the second",
        "{}/two",
        &[
            (PRM, 200, TWO),
            (
                "/.well-known/oauth-authorization-server/two",
                200,
                r#"{"issuer":"{}/two"}"#,
            ),
        ],
        "{} {}/two ",
    ),
    chosen(
        "two issuers, neither",
        "{}/three",
        &[(PRM, 200, TWO)],
        "oauth.issuer_unknown",
    ),
    // monday.com.
    case(
        "metadata that redirects",
        &[(PRM, 200, RESOURCE), (AS, 302, "")],
        "oauth.not_found",
    ),
    case(
        "a page instead of a document",
        &[(PRM, 200, "<html>"), (AS, 200, SERVER)],
        "{}/mcp {} ",
    ),
    case(
        "a page for everything",
        &[(PRM, 200, "<html>"), (AS, 200, "<html>"), (OIDC, 200, "[]")],
        "oauth.not_found",
    ),
    case(
        "an issuer that is no address",
        &[(PRM, 200, r#"{"resource":"{}","authorization_servers":["as"]}"#)],
        "oauth.malformed",
    ),
    case("nothing", &[], "oauth.not_found"),
];

/// A server with these places, and a client that may ask it for them and nothing else.
async fn serve(places: &[Place]) -> (Origin, HttpClient) {
    let known: Vec<(String, u16, String)> = places
        .iter()
        .map(|(path, status, body)| ((*path).to_owned(), *status, (*body).to_owned()))
        .collect();
    let origin = Origin::start(move |seen| {
        let path = seen.text.split(' ').nth(1).unwrap_or_default();
        let host = header(&seen.text, "host").unwrap_or_default();
        let (status, body) = known
            .iter()
            .find(|(known, ..)| known == path)
            .map_or((404, String::new()), |(_, status, body)| {
                (*status, body.replace("{}", &format!("http://{host}")))
            });
        Reply::Keep(response(
            status,
            "Content-Type: application/json\r\nLocation: /elsewhere\r\n",
            &body,
        ))
    })
    .await;
    let names = Resolver::Fixed(Arc::new(FixedNames::default()));
    let mut egress = Egress::public().with_resolver(names);
    let behind = [
        PRM,
        PRM_MCP,
        AS,
        OIDC,
        "/token",
        "/register",
        "/meta",
        "/meta?x=1",
    ];
    let paths = behind
        .iter()
        .copied()
        .map(str::to_owned)
        .chain(["as", "one", "two"].iter().flat_map(|name| {
            [
                format!("{AS}/{name}"),
                format!("{OIDC}/{name}"),
                format!("/{name}{OIDC}"),
            ]
        }));
    for path in paths {
        egress = egress
            .register(&format!("http://{}{path}", origin.address))
            .unwrap();
    }
    let options = HttpOptions {
        egress: Arc::new(egress),
        ..HttpOptions::default()
    };
    (origin, HttpClient::new(options).unwrap())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[tokio::test]
async fn where_to_sign_in() {
    for case in CASES {
        let (origin, http) = serve(case.places).await;
        let base = format!("http://{}", origin.address);
        let there = |text: &str| text.replace("{}", &base);
        let challenge = Challenge::parse(&there(case.challenge));
        let issuer = case.issuer.map(there);
        let discovery = Discovery {
            http: &http,
            deadline: soon(),
        };
        let endpoint = Url::parse(&format!("{base}/mcp")).unwrap();
        let found = match discovery
            .run(&endpoint, challenge.as_ref(), issuer.as_deref())
            .await
        {
            Ok(found) => format!(
                "{} {} {}",
                found.resource,
                found.server.issuer,
                found.scopes.join("+")
            ),
            Err(error) => error.code().to_owned(),
        };
        assert_eq!(found, there(case.found), "{}", case.what);
    }
}

fn metadata(base: &str, more: &str) -> ServerMetadata {
    let text = format!(
        r#"{{"issuer":"{base}","token_endpoint":"{base}/token","registration_endpoint":"{base}/register"{more}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn request<'a>(
    http: &'a HttpClient,
    server: &'a ServerMetadata,
    client: &'a Client,
    scopes: &'a [String],
) -> TokenRequest<'a> {
    TokenRequest {
        http,
        server,
        client,
        resource: "urn:r",
        scopes,
        now: Timestamp::from_micros(1_796_052_915_000_000),
        deadline: soon(),
    }
}

const NONE: &str = r#","token_endpoint_auth_methods_supported":["none","client_secret_post"]"#;
const POST: &str = r#","token_endpoint_auth_methods_supported":["client_secret_post"]"#;

/// What the server supports, what registering comes to, the client, the method asked for.
const REGISTRATIONS: [(&str, u16, &str, &str, &str); 10] = [
    (NONE, 201, r#"{"client_id":"c"}"#, "c none", "none"),
    (
        "",
        201,
        r#"{"client_id":"c","client_secret":"s"}"#,
        "c client_secret_basic",
        "client_secret_basic",
    ),
    (
        POST,
        200,
        r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#,
        "c client_secret_post",
        "client_secret_post",
    ),
    // Supabase, Figma: a secret, whatever was asked for, and `none` is not taken.
    (
        POST,
        201,
        r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"none"}"#,
        "c client_secret_post",
        "client_secret_post",
    ),
    (
        NONE,
        201,
        r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"none"}"#,
        "c none",
        "none",
    ),
    (
        "",
        201,
        r#"{"client_id":"c"}"#,
        "oauth.malformed",
        "client_secret_basic",
    ),
    (NONE, 201, "{}", "oauth.malformed", "none"),
    // Figma: for those it knows.
    (
        NONE,
        403,
        r#"{"error":"forbidden"}"#,
        "oauth.client_required",
        "none",
    ),
    (
        NONE,
        400,
        r#"{"error":"invalid_redirect_uri","error_description":"only\nloopback"}"#,
        "invalid_redirect_uri only loopback",
        "none",
    ),
    (NONE, 500, "oops", "oauth.status", "none"),
];

#[tokio::test]
async fn registration() {
    for (supported, status, answer, expected, asked) in REGISTRATIONS {
        let (origin, http) = serve(&[("/register", status, answer)]).await;
        let server = metadata(&format!("http://{}", origin.address), supported);
        let registration = Registration {
            name: "Switchboard".to_owned(),
            redirect_uri: Url::parse("http://localhost:7100/api/mcp/auth/callback").unwrap(),
            uri: None,
        };
        let found = match registration.send(&http, &server, soon()).await {
            Ok(client) => format!("{} {}", client.id, client.auth.method()),
            Err(OAuthError::Refused {
                code, description, ..
            }) => format!("{code} {}", description.unwrap_or_default()),
            Err(error) => error.code().to_owned(),
        };
        assert_eq!(found, expected, "{answer}");
        let seen = origin.seen();
        let body = seen[0].text.split("\r\n\r\n").nth(1).unwrap();
        let sent: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(sent["token_endpoint_auth_method"], asked, "{sent}");
        assert_eq!(sent["application_type"], "native", "{sent}");
        assert_eq!(
            sent["redirect_uris"][0],
            "http://localhost:7100/api/mcp/auth/callback"
        );
    }
}

/// What a request for a token carries, for each way to authenticate.
#[tokio::test]
async fn requests_for_tokens() {
    let key = rcgen::KeyPair::generate().unwrap();
    let pem = Secret::new(format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        base64::engine::general_purpose::STANDARD.encode(key.serialize_der())
    ));
    let signing = || SigningKey::from_pem(&pem, "ES256", Some("k1".to_owned())).unwrap();
    let (code, verifier, refresh) = (Secret::new("c d"), Secret::new("v"), Secret::new("r"));
    let callback = Url::parse("http://localhost:7100/cb").unwrap();
    let by_code = Grant::Code {
        code: &code,
        verifier: &verifier,
        redirect_uri: &callback,
    };
    let form_of_code = "grant_type=authorization_code&code=c+d&code_verifier=v&redirect_uri=http%3A%2F%2Flocalhost%3A7100%2Fcb&resource=urn%3Ar";
    let basic = "Basic YSUzQTE6cyUyRis="; // a%3A1:s%2F+
    let cases: Vec<(Grant<'_>, ClientAuth, String, Option<&str>)> = vec![
        (by_code, ClientAuth::None, format!("{form_of_code}&client_id=a%3A1"), None),
        (by_code, ClientAuth::Post(Secret::new("s/ ")), format!("{form_of_code}&client_id=a%3A1&client_secret=s%2F+"), None),
        (by_code, ClientAuth::Basic(Secret::new("s/ ")), form_of_code.to_owned(), Some(basic)),
        (Grant::Refresh(&refresh), ClientAuth::None, "grant_type=refresh_token&refresh_token=r&resource=urn%3Ar&client_id=a%3A1".to_owned(), None),
        (Grant::ClientCredentials, ClientAuth::Basic(Secret::new("s/ ")), "grant_type=client_credentials&scope=x+y&resource=urn%3Ar".to_owned(), Some(basic)),
        (Grant::ClientCredentials, ClientAuth::Key(signing()), "grant_type=client_credentials&scope=x+y&resource=urn%3Ar&client_id=a%3A1&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion=".to_owned(), None),
    ];
    let scopes = ["x".to_owned(), "y".to_owned()];
    for (grant, auth, form, authorization) in cases {
        let (origin, http) = serve(&[("/token", 200, r#"{"access_token":"t","token_type":"Bearer"}"#)]).await;
        let base = format!("http://{}", origin.address);
        let client = Client {
            id: "a:1".to_owned(),
            auth,
        };
        let server = metadata(&base, "");
        let tokens = request(&http, &server, &client, &scopes)
            .send(grant)
            .await
            .unwrap();
        assert_eq!(tokens.access.expose(), "t");
        let seen = origin.seen();
        let text = &seen[0].text;
        let body = text.split("\r\n\r\n").nth(1).unwrap();
        assert_eq!(header(text, "authorization"), authorization, "{text}");
        let Some(assertion) = body.strip_prefix(&form) else {
            panic!("{body} instead of {form}")
        };
        if matches!(client.auth, ClientAuth::Key(_)) {
            check_assertion(assertion, &base);
        } else {
            assert_eq!(assertion, "", "{body}");
        }
    }
}

/// Signed by the key, for this server and this client, for a minute.
fn check_assertion(assertion: &str, issuer: &str) {
    let part = |at: usize| -> serde_json::Value {
        let text = assertion.split('.').nth(at).unwrap();
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD
            .decode(text)
            .unwrap();
        serde_json::from_slice(&bytes).unwrap()
    };
    let (header, claims) = (part(0), part(1));
    assert_eq!((&header["alg"], &header["kid"]), (&"ES256".into(), &"k1".into()));
    for (name, value) in [("iss", "a:1"), ("sub", "a:1"), ("aud", issuer)] {
        assert_eq!(claims[name], value, "{claims}");
    }
    assert_eq!(
        claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(),
        60
    );
    assert_eq!(claims["jti"].as_str().unwrap().len(), 43);
}

/// Refusals: whether a person is needed, and whether a refresh token may be spent.
#[tokio::test]
async fn refusals_of_tokens() {
    // Status, body, code, whether the grant is gone, whether the server may have acted.
    let cases: [(u16, &str, &str, bool, bool); 11] = [
        (400, r#"{"error":"invalid_grant"}"#, "oauth.refused", true, false),
        (
            400,
            r#"{"error":"invalid_request","error_description":"Refresh token not found"}"#,
            "oauth.refused",
            true,
            false,
        ),
        (
            400,
            r#"{"error":"invalid_request","error_description":"resource"}"#,
            "oauth.refused",
            false,
            false,
        ),
        (401, r#"{"error":"invalid_client"}"#, "oauth.refused", true, false),
        // GitHub.
        (
            200,
            r#"{"error":"bad_refresh_token"}"#,
            "oauth.refused",
            false,
            false,
        ),
        (
            400,
            r#"{"error":"temporarily_unavailable"}"#,
            "oauth.refused",
            false,
            false,
        ),
        (429, "slow down", "oauth.status", false, false),
        (503, "", "oauth.status", false, true),
        (200, "{}", "oauth.malformed", false, true),
        (
            200,
            r#"{"access_token":"t","token_type":"DPoP"}"#,
            "oauth.malformed",
            false,
            true,
        ),
        (302, "", "oauth.unreachable", false, true),
    ];
    for (status, body, code, gone, acted) in cases {
        let body: &'static str = body;
        let (origin, http) = serve(&[("/token", status, body)]).await;
        let client = Client {
            id: "c".to_owned(),
            auth: ClientAuth::None,
        };
        let server = metadata(&format!("http://{}", origin.address), "");
        let token = Secret::new("secret-refresh-token");
        let request = request(&http, &server, &client, &[]);
        let sending = request.send(Grant::Refresh(&token));
        let error = sending.await.unwrap_err();
        let found = (error.code(), error.grant_is_gone(), error.may_have_acted());
        assert_eq!(found, (code, gone, acted), "{status} {body}: {error}");
        assert!(!format!("{error} {error:?}").contains("secret-refresh-token"));
    }
}
