//! The catalogue as a whole, and what presets do with schemas, arguments and answers.

use std::collections::HashSet;

use domain::{
    AccountKind, Arguments, Connection, Effect, Endpoint, Health, Light, PresetRef, Proof, Risk, Timestamp,
    Transport, Verified,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use url::Url;

use super::load::FILES;
use super::{
    Adapter, Place, Preset, PresetAuth, Variant, alike, catalogue, default_tools, find, judge, light, names,
    offered, provided, qualifies, still, tool,
};
use crate::headers::{HeaderName, HeaderValue};
use crate::schema;

// V132: every file is read strictly, under its own id.
#[test]
fn every_file_is_a_preset() {
    for (name, text) in FILES {
        let preset: Preset = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(preset.id, name);
    }
    let ids: Vec<&str> = catalogue().iter().map(|preset| preset.id.as_str()).collect();
    assert_eq!(ids.len(), FILES.len());
    assert!(ids.is_sorted());
    let mut all: Vec<&str> = ids;
    all.extend(
        catalogue()
            .iter()
            .flat_map(|preset| &preset.former_ids)
            .map(String::as_str),
    );
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{all:?}");
    assert!(all.iter().all(|id| find(id).is_some()));
    let unknown = toml::from_str::<Preset>("id = \"x\"\nsurprise = 1\n");
    assert!(unknown.unwrap_err().to_string().contains("surprise"));
}

// O040, O041: who registers clients says so, and who takes a secret says which.
#[test]
fn every_variant_can_be_connected() {
    for preset in catalogue() {
        let ids: HashSet<&str> = preset
            .variants
            .iter()
            .map(|variant| variant.id.as_str())
            .collect();
        assert_eq!(ids.len(), preset.variants.len(), "{}", preset.id);
        assert!(!preset.variants.is_empty(), "{}", preset.id);
        for variant in &preset.variants {
            let at = format!("{}/{}", preset.id, variant.id);
            check_place(variant, &at);
            check_auth(&variant.auth, &at);
            for (name, value) in &variant.headers {
                HeaderName::new(name).unwrap();
                HeaderValue::new(domain::Secret::new(value)).unwrap();
            }
        }
    }
}

fn check_place(variant: &Variant, at: &str) {
    let url = variant.url.as_deref().map(|url| Url::parse(url).unwrap());
    match (variant.kind, url) {
        (Place::Hosted, Some(url)) => assert_eq!(url.scheme(), "https", "{at}"),
        (Place::Internal, Some(url)) => assert!(url.port().is_some(), "{at}"),
        (Place::Deployed, None) => assert!(variant.former_urls.is_empty(), "{at}"),
        (_, _) => panic!("{at}: the place and the URL do not fit"),
    }
    assert_eq!(variant.transport, Transport::StreamableHttp, "{at}");
}

fn check_auth(auth: &PresetAuth, at: &str) {
    let of_oauth = auth.issuer.is_some() || auth.scopes.is_some() || auth.profile.is_some();
    match auth.kind {
        AccountKind::None => assert!(auth.secret.is_none() && !of_oauth, "{at}"),
        AccountKind::Bearer => assert!(auth.secret.is_some() && auth.header_name.is_none(), "{at}"),
        AccountKind::Header => {
            HeaderName::new(auth.header_name.as_deref().unwrap()).unwrap();
            assert!(auth.secret.is_some() && !of_oauth, "{at}");
        }
        AccountKind::Oauth => {
            assert!(auth.registration.is_some() && auth.secret.is_none(), "{at}");
            if let Some(issuer) = &auth.issuer {
                Url::parse(issuer).unwrap();
            }
        }
        AccountKind::ClientCredentials | AccountKind::PrivateKeyJwt => panic!("{at}"),
    }
}

// V078: what can do harm is high risk and not among the tools a connection starts with.
#[test]
fn every_tool_is_classified() {
    for preset in catalogue() {
        for variant in &preset.variants {
            let at = format!("{}/{}", preset.id, variant.id);
            let mut seen = HashSet::new();
            for tool in preset.tools(variant) {
                for name in std::iter::once(&tool.name).chain(&tool.former) {
                    assert!(seen.insert(name), "{at}: {name} twice");
                }
                if let Some(shape) = &tool.shape
                    && let Some(schema) = &shape.schema
                {
                    schema::compile(&raw(schema)).unwrap();
                }
            }
            for starter in preset.starters(variant) {
                let tool = preset.tool(variant, starter).unwrap();
                assert_ne!(tool.risk, Risk::High, "{at}: {starter}");
            }
            if let Some(probe) = preset.probe(variant) {
                let tool = preset.tool(variant, &probe.tool).unwrap();
                assert_eq!(tool.effect, Effect::ReadOnly, "{at}: {}", probe.tool);
                assert!(probe.arguments.is_object(), "{at}");
            }
        }
    }
    for (preset, variant, name) in [
        ("browserless", "token", "browserless_agent"),
        ("browserless", "token", "browserless_function"),
        ("browser-use", "sessions", "run_session"),
        ("sentry", "account", "execute_sentry_tool"),
    ] {
        let preset = find(preset).unwrap();
        let variant = preset.variant(variant).unwrap();
        assert_eq!(preset.tool(variant, name).unwrap().risk, Risk::High, "{name}");
        assert!(!preset.starters(variant).contains(&name), "{name}");
    }
}

// V132, V142, V144, O036
#[test]
fn the_presets_people_ask_for_are_there() {
    for (id, variants) in [
        ("exa", vec!["keyless", "key"]),
        ("tavily", vec!["key"]),
        ("firecrawl", vec!["key"]),
        ("browserless", vec!["token"]),
        ("browser-use", vec!["sessions"]),
        ("github", vec!["app", "token"]),
        ("slack", vec!["app"]),
        ("linear", vec!["account"]),
        ("notion", vec!["account"]),
        ("atlassian", vec!["account"]),
        ("sentry", vec!["account", "token"]),
        ("openbnb", vec!["account"]),
        (
            "google-workspace",
            vec!["gmail", "drive", "calendar", "chat", "people"],
        ),
        ("google-maps", vec!["key"]),
        ("flightradar24", vec!["internal", "deployed"]),
        ("monzo", vec!["internal", "deployed"]),
    ] {
        let preset = find(id).unwrap();
        for variant in variants {
            assert!(preset.variant(variant).is_some(), "{id}/{variant}");
        }
    }
    let monzo = find("monzo").unwrap();
    for variant in &monzo.variants {
        assert!(monzo.starters(variant).is_empty());
    }
    let google = find("google-workspace").unwrap();
    let urls: HashSet<_> = google.variants.iter().map(|variant| &variant.url).collect();
    assert_eq!(urls.len(), 5);
    for variant in &google.variants {
        assert_eq!(variant.auth.profile.as_deref(), Some("offline_consent"));
        assert!(!variant.listing_proves);
    }
}

// What moved is followed, and the old name still finds it.
#[test]
fn former_names_lead_to_present_ones() {
    for (former, now) in [
        ("airbnb", "openbnb"),
        ("google", "google-workspace"),
        ("grounding-lite", "google-maps"),
    ] {
        assert_eq!(find(former).unwrap().id, now);
    }
    for (preset, variant, former) in [
        ("tavily", "key", "https://mcp.tavily.com/mcp"),
        ("atlassian", "account", "https://mcp.atlassian.com/v1/mcp/authv2"),
        ("atlassian", "account", "https://mcp.atlassian.com/v1/sse"),
        (
            "google-workspace",
            "people",
            "https://peoplemcp.googleapis.com/mcp/v1",
        ),
        ("slack", "app", "https://mcp.slack.com/sse"),
    ] {
        assert!(
            find(preset).unwrap().variant(variant).unwrap().is_at(former),
            "{former}"
        );
    }
    let tavily = reference("tavily", "key");
    assert_eq!(
        names(&tavily, "tavily-search"),
        ["tavily_search", "tavily-search"]
    );
    assert_eq!(
        names(&tavily, "tavily_search"),
        ["tavily_search", "tavily-search"]
    );
    assert_eq!(tool(&tavily, "tavily-search").unwrap().name, "tavily_search");
    assert!(names(&tavily, "unknown").is_empty());
    let mut connection = exa();
    connection.preset = Some(tavily);
    connection.allowed_tools = Some(vec!["tavily-search".into(), "other".into()]);
    let all: Vec<String> = offered(&connection)
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(all, ["tavily-search", "other", "tavily_search"]);
}

fn reference(id: &str, variant: &str) -> PresetRef {
    PresetRef {
        id: id.into(),
        variant: variant.into(),
        provided: false,
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn adapter(id: &str, variant: &str, tool: &str) -> Adapter {
    super::adapter(&reference(id, variant), tool).unwrap()
}

// V163: arguments are put right before they are checked, decided about and sent.
#[test]
fn arguments_are_put_right() {
    let maps = |tool| adapter("google-maps", "key", tool);
    for (adapter, given, expected) in [
        // V165
        (
            maps("lookup_weather"),
            json!({ "location": { "placeId": "places/abc" } }),
            json!({ "location": { "placeId": "abc" } }),
        ),
        // V164: the names of the descriptions become those of the schema, at every depth.
        (
            maps("lookup_weather"),
            json!({ "location": { "lat_lng": { "latitude": 1, "longitude": 2 } }, "units_system": "METRIC" }),
            json!({ "location": { "latLng": { "latitude": 1, "longitude": 2 } }, "unitsSystem": "METRIC" }),
        ),
        (
            maps("search_places"),
            json!({ "text_query": "cafes", "languageCode": "en" }),
            json!({ "textQuery": "cafes", "languageCode": "en" }),
        ),
        // Both are there: which one is meant is not for us to say, and the check refuses the unknown one.
        (
            maps("search_places"),
            json!({ "text_query": "a", "textQuery": "b" }),
            json!({ "text_query": "a", "textQuery": "b" }),
        ),
        (
            maps("compute_routes"),
            json!({ "origin": { "place_id": "places/x" }, "destination": { "address": "places/y" } }),
            json!({ "origin": { "placeId": "x" }, "destination": { "address": "places/y" } }),
        ),
        (
            adapter("exa", "keyless", "web_fetch_exa"),
            json!({ "urls": "https://a.example" }),
            json!({ "urls": ["https://a.example"] }),
        ),
        (
            adapter("exa", "keyless", "web_fetch_exa"),
            json!({ "urls": "[\"https://a.example\", \"https://b.example\"]" }),
            json!({ "urls": ["https://a.example", "https://b.example"] }),
        ),
        (
            adapter("firecrawl", "key", "firecrawl_search"),
            json!({ "query": "x", "sources": ["web", { "type": "news" }] }),
            json!({ "query": "x", "sources": [{ "type": "web" }, { "type": "news" }] }),
        ),
        (
            adapter("tavily", "key", "tavily-search"),
            json!({ "query": "x", "include_domains": "a.example" }),
            json!({ "query": "x", "include_domains": ["a.example"] }),
        ),
    ] {
        let arguments = adapter.arguments(Arguments::new(raw(&given)).unwrap());
        assert_eq!(*arguments.value(), expected, "{given}");
        assert_eq!(
            serde_json::from_str::<Value>(arguments.raw().get()).unwrap(),
            expected
        );
        // Putting right what is right changes nothing.
        let again = adapter.arguments(arguments.clone());
        assert_eq!(again.raw().get(), arguments.raw().get());
    }
}

fn narrowed(adapter: &Adapter, schema: &Value) -> Value {
    let definition = json!({ "name": "x", "description": "Says.", "inputSchema": schema });
    let shown = adapter.definition(&raw(&definition));
    shown.map_or(definition, |shown| serde_json::from_str(shown.get()).unwrap())
}

// V163: a schema is narrowed; what a server does not have is not made up.
#[test]
fn schemas_are_narrowed() {
    let browserless = adapter("browserless", "token", "browserless_search");
    let schema = json!({
        "type": "object",
        "properties": { "query": { "type": "string" }, "_prompt": { "type": "string" }, "limit": { "type": "integer" } },
        "required": ["query", "_prompt"],
    });
    assert_eq!(
        narrowed(&browserless, &schema)["inputSchema"],
        json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            },
            "required": ["query"],
        })
    );
    assert!(browserless.refusals(&json!({ "query": "x" })).is_empty());
    let refused = browserless.refusals(&json!({ "query": "x", "_prompt": "what the user wrote" }));
    assert_eq!(refused.len(), 1);
    assert!(!refused[0].to_string().contains("what the user wrote"));

    // Every tool of that server, also one nobody named.
    let other = super::adapter(&reference("browserless", "token"), "browserless_new").unwrap();
    let schema = json!({ "type": "object", "properties": { "_prompt": {} } });
    assert_eq!(narrowed(&other, &schema)["inputSchema"]["properties"], json!({}));

    let firecrawl = adapter("firecrawl", "key", "firecrawl_search");
    let both = json!({ "query": "x", "includeDomains": ["a"], "excludeDomains": ["b"] });
    assert_eq!(firecrawl.refusals(&both).len(), 1);
    assert_eq!(
        narrowed(&firecrawl, &json!({ "type": "object" }))["inputSchema"],
        json!({ "type": "object" })
    );
    assert!(super::adapter(&reference("tavily", "key"), "tavily_map").is_none());
}

// V164, V166
#[test]
fn weather_takes_exactly_one_place() {
    let weather = adapter("google-maps", "key", "lookup_weather");
    let incomplete = json!({ "type": "object", "properties": { "location": { "type": "object" } } });
    let shown = narrowed(&weather, &incomplete);
    let said = shown["description"].as_str().unwrap();
    assert!(
        said.starts_with("Call this directly with a specific address") && said.ends_with("Says."),
        "{said}"
    );
    let validator = schema::compile(&raw(&shown["inputSchema"])).unwrap();
    for (fits, arguments) in [
        (true, json!({ "location": { "address": "Lisbon, Portugal" } })),
        (
            true,
            json!({ "location": { "placeId": "abc" }, "unitsSystem": "IMPERIAL" }),
        ),
        (
            true,
            json!({ "location": { "latLng": { "latitude": 1.5, "longitude": -2 } } }),
        ),
        (
            true,
            json!({ "location": { "address": "x" }, "date": { "year": 2026, "month": 12, "day": 1 }, "hour": 8 }),
        ),
        (false, json!({})),
        (false, json!({ "location": {} })),
        (false, json!({ "location": { "address": "x", "placeId": "y" } })),
        (false, json!({ "location": { "place_id": "y" } })),
        (false, json!({ "location": { "latLng": { "latitude": 1 } } })),
        (
            false,
            json!({ "location": { "address": "x" }, "date": { "year": 2026, "month": 12 } }),
        ),
        (false, json!({ "location": { "address": "x" }, "hour": 8 })),
        (
            false,
            json!({ "location": { "address": "x" }, "DEPRECATEDAddress": "y" }),
        ),
        (false, json!({ "location": { "address": "x" }, "extra": 1 })),
    ] {
        assert_eq!(validator.check(&arguments).is_ok(), fits, "{arguments}");
    }
}

#[test]
fn answers_say_what_they_prove() {
    let text = |is_error: bool, text: &str| json!({ "isError": is_error, "content": [{ "type": "text", "text": text }] });
    let tavily = find("tavily").unwrap();
    let tavily = tavily.probe(tavily.variant("key").unwrap()).unwrap();
    let firecrawl = find("firecrawl").unwrap();
    let firecrawl = firecrawl.probe(firecrawl.variant("key").unwrap()).unwrap();
    let monzo = find("monzo").unwrap().verify.as_ref().unwrap();
    for (probe, answer, expected) in [
        (
            tavily,
            text(false, "Detailed Results:\n\nTitle: x"),
            Proof::Proven,
        ),
        (
            tavily,
            text(true, "Tavily API error: Unauthorized"),
            Proof::Unproven,
        ),
        (
            tavily,
            text(true, "Unauthorized: invalid API key"),
            Proof::Rejected,
        ),
        // Refused in band, as a success.
        (
            tavily,
            text(
                false,
                "{\"error\": \"Unauthorized\", \"status\": 401, \"detail\": \"x\"}",
            ),
            Proof::Rejected,
        ),
        (
            tavily,
            text(
                false,
                "{\"code\": \"monthly_cap_reached_bonus_eligible\", \"next_actions\": []}",
            ),
            Proof::Unproven,
        ),
        (
            firecrawl,
            json!({ "isError": true, "content": [], "structuredContent": { "code": "CREDENTIAL_INVALID" } }),
            Proof::Rejected,
        ),
        (
            firecrawl,
            json!({ "isError": true, "content": [], "structuredContent": { "code": "KEYLESS_QUOTA_EXHAUSTED" } }),
            Proof::Unproven,
        ),
        (firecrawl, text(true, "upstream broke"), Proof::Unproven),
        (monzo, text(false, "{\"authenticated\": true}"), Proof::Proven),
        (monzo, text(false, "{\"authenticated\": false}"), Proof::Unproven),
    ] {
        assert_eq!(judge(probe, &answer), expected, "{answer}");
    }
}

fn exa() -> Connection {
    provided(Timestamp::from_micros(1)).unwrap().connection
}

// V048: two low-risk tools, known without asking.
#[test]
fn what_is_shipped_of_exa() {
    let given = provided(Timestamp::from_micros(1)).unwrap();
    assert!(given.connection.enabled && given.connection.trusted);
    let names: Vec<&str> = given.pins.iter().map(|pin| &*pin.name).collect();
    assert_eq!(names, ["web_search_exa", "web_fetch_exa"]);
    for pin in &given.pins {
        let said = pin.classification.unwrap();
        assert_eq!((said.risk, said.effect), (Risk::Low, Effect::ReadOnly));
        let definition = pin.accepted.as_ref().unwrap();
        let read = crate::definition::Tool::read(definition.raw.clone()).unwrap();
        schema::compile(read.input_schema()).unwrap();
    }
    assert_eq!(given.catalogue.tools.len(), 2);
    assert!(qualifies(&given.connection) && alike(&given.connection));
    assert_eq!(default_tools(&given.connection).len(), 2);
}

// V053: only the exact identity, transport, URL and account qualify.
#[test]
fn only_the_canonical_connection_qualifies() {
    let url = |url: &str, transport| Endpoint::Url {
        url: url.into(),
        transport,
    };
    let change = |change: &dyn Fn(&mut Connection)| {
        let mut connection = exa();
        change(&mut connection);
        connection
    };
    let preset = |connection: &mut Connection, change: &dyn Fn(&mut PresetRef)| {
        change(connection.preset.as_mut().unwrap());
    };
    let others = [
        change(&|c| c.endpoint = url("https://mcp.exa.ai/mcp/", Transport::StreamableHttp)),
        change(&|c| {
            c.endpoint = url(
                "https://mcp.exa.ai/mcp?tools=agent_run",
                Transport::StreamableHttp,
            )
        }),
        change(&|c| c.endpoint = url("https://mcp.exa.ai.example/mcp", Transport::StreamableHttp)),
        change(&|c| c.endpoint = url("http://mcp.exa.ai/mcp", Transport::StreamableHttp)),
        change(&|c| c.endpoint = url("https://mcp.exa.ai/mcp", Transport::Auto)),
        change(&|c| c.endpoint = url("https://mcp.exa.ai/mcp", Transport::Sse)),
        change(&|c| c.account.kind = AccountKind::Header),
        change(&|c| c.account.kind = AccountKind::Oauth),
        change(&|c| c.header_names = vec!["x-api-key".into()]),
        change(&|c| c.owner = domain::ConnectionOwner::Agent(domain::AgentId::generate())),
        change(&|c| c.preset = None),
        change(&|c| preset(c, &|p| p.provided = false)),
        change(&|c| preset(c, &|p| p.variant = "key".into())),
        change(&|c| preset(c, &|p| p.id = "tavily".into())),
    ];
    for connection in &others {
        assert!(!qualifies(connection), "{connection:?}");
        assert!(default_tools(connection).is_empty());
    }
    // Labels, allowlists and timeouts are people's to set.
    assert!(qualifies(&change(
        &|c| c.allowed_tools = Some(vec!["web_fetch_exa".into()])
    )));
}

// V047: whatever connection to Exa a workspace has counts.
#[test]
fn connections_to_exa_are_known() {
    let mut connection = exa();
    connection.preset = None;
    for (url, is) in [
        ("https://mcp.exa.ai/mcp", true),
        ("https://mcp.exa.ai/mcp?exaApiKey=k", true),
        ("https://mcp.exa.ai/", true),
        ("https://exa.ai.example/mcp", false),
        ("https://mcp.example.com/mcp.exa.ai", false),
    ] {
        connection.endpoint = Endpoint::Url {
            url: url.into(),
            transport: Transport::Auto,
        };
        assert_eq!(alike(&connection), is, "{url}");
    }
}

// What a preset says holds for the servers it names, and for no other.
#[test]
fn a_moved_connection_leaves_its_preset() {
    let now = |change: &dyn Fn(&mut Connection)| {
        let mut connection = exa();
        change(&mut connection);
        still(&connection).map(|preset| (preset.variant.to_string(), preset.provided))
    };
    let url = |url: &str| Endpoint::Url {
        url: url.into(),
        transport: Transport::StreamableHttp,
    };
    let keyless = |provided| Some(("keyless".to_owned(), provided));
    assert_eq!(now(&|_| {}), keyless(true));
    // V056, V057
    assert_eq!(now(&|c| c.enabled = false), keyless(false));
    // V058
    assert_eq!(
        now(&|c| c.account.kind = AccountKind::Header),
        Some(("key".to_owned(), false))
    );
    assert_eq!(now(&|c| c.endpoint = url("https://other.example/mcp")), None);
    assert_eq!(now(&|c| c.account.kind = AccountKind::ClientCredentials), None);
    assert_eq!(now(&|c| c.preset = None), None);
}

// Where listing proves nothing, the light claims nothing.
#[test]
fn the_light_is_green_once_something_was_proven() {
    let mut connection = exa();
    let at = Timestamp::from_micros(1);
    let verified = |proof| Some(Verified { proof, at });
    for (preset, proof, found, expected) in [
        (Some(("exa", "keyless")), None, Light::Green, Light::Yellow),
        (
            Some(("exa", "keyless")),
            verified(Proof::Proven),
            Light::Green,
            Light::Green,
        ),
        (
            Some(("exa", "keyless")),
            verified(Proof::Proven),
            Light::Red,
            Light::Red,
        ),
        (
            Some(("exa", "keyless")),
            verified(Proof::Unproven),
            Light::Green,
            Light::Yellow,
        ),
        (
            Some(("exa", "keyless")),
            verified(Proof::Rejected),
            Light::Green,
            Light::Red,
        ),
        (Some(("tavily", "key")), None, Light::Green, Light::Yellow),
        (
            Some(("google-workspace", "gmail")),
            None,
            Light::Green,
            Light::Yellow,
        ),
        (Some(("google-maps", "key")), None, Light::Green, Light::Yellow),
        (Some(("github", "token")), None, Light::Green, Light::Green),
        (
            Some(("github", "token")),
            verified(Proof::Rejected),
            Light::Green,
            Light::Red,
        ),
        (None, None, Light::Green, Light::Green),
    ] {
        connection.preset = preset.map(|(id, variant)| reference(id, variant));
        connection.verified = proof;
        connection.health = Health::Ok;
        assert_eq!(
            light(&connection, found),
            expected,
            "{preset:?} {proof:?} {found:?}"
        );
    }
}
