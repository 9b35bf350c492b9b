//! Presets: what connecting by one makes, what its word does to tools and arguments, and what verifying proves.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use domain::Surface;
use gateway::FailureKind;
use mcp::egress::{FixedNames, Resolver};
use serde_json::{Value, json};
use testkit::scripted::Reply;

use super::both;
use super::front::Front;
use super::house::{Bench, House, Plan};
use super::upstream::{Upstream, echo, tool};

both!(
    presets_are_offered_as_far_as_they_are_open,
    connections_are_made_from_presets,
    what_does_not_fit_a_preset_is_refused,
    a_presets_word_classifies_and_narrows,
    renamed_tools_answer_to_their_old_names,
    verifying_says_what_a_call_proves,
    what_was_proven_is_forgotten_with_the_account,
);

/// Hosts of the presets, at public addresses nobody is asked at.
fn known() -> Resolver {
    let address: IpAddr = "8.8.8.8".parse().unwrap();
    let hosts = [
        "mcp.exa.ai",
        "mcp.tavily.com",
        "mcp.atlassian.com",
        "api.githubcopilot.com",
        "gmailmcp.googleapis.com",
        "mcp.sentry.dev",
        "mcp.example.com",
        "mcp.browserless.io",
        "mcp.slack.com",
    ];
    Resolver::Fixed(Arc::new(FixedNames::new(
        hosts.map(|host| (host, vec![vec![address]])),
    )))
}

async fn house(bench: Bench, urls: &[&str]) -> House {
    let plan = Plan {
        urls: urls.iter().map(ToString::to_string).collect(),
        resolver: known(),
        ..Plan::default()
    };
    House::build(bench, plan).await
}

async fn listed(house: &House) -> Vec<Value> {
    let mut all = Vec::new();
    let mut input = json!({ "limit": 5 });
    loop {
        let page = house.admin("connections.presets", input.clone()).await;
        all.extend(page["items"].as_array().unwrap().clone());
        match page["next_cursor"].as_str() {
            Some(cursor) => input["cursor"] = json!(cursor),
            None => return all,
        }
    }
}

fn variants(presets: &[Value], id: &str) -> Vec<String> {
    let preset = presets.iter().find(|preset| preset["id"] == id).unwrap();
    let variants = preset["variants"].as_array().unwrap();
    variants
        .iter()
        .map(|variant| variant["id"].as_str().unwrap().to_owned())
        .collect()
}

// V132, V136, V141, O036: the list pages; a variant for an internal address is there where the operator registered exactly that.
async fn presets_are_offered_as_far_as_they_are_open(bench: Bench) {
    let house = house(
        bench,
        &["http://flightradar24-mcp:8000/mcp", "http://monzo-mcp:8000/other"],
    )
    .await;
    let presets = listed(&house).await;
    let ids: Vec<&str> = presets
        .iter()
        .map(|preset| preset["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 16, "{ids:?}");
    assert_eq!(
        variants(&presets, "flightradar24"),
        ["internal", "deployed", "deployed-open"]
    );
    assert_eq!(variants(&presets, "monzo"), ["deployed"]);
    let of = |id: &str| presets.iter().find(|preset| preset["id"] == id).unwrap();
    let slack = &of("slack")["variants"][0];
    assert_eq!(slack["auth"]["registration"], "own_app");
    assert_eq!(
        slack["auth"]["callback_uri"],
        "http://localhost:7100/api/mcp/auth/callback"
    );
    let browserless = of("browserless")["variants"][0]["tools"].as_array().unwrap();
    let agent = browserless
        .iter()
        .find(|tool| tool["name"] == "browserless_agent")
        .unwrap();
    assert_eq!(
        (&agent["risk"], &agent["starter"]),
        (&json!("high"), &json!(false))
    );
    house.verify().await;
}

async fn add(house: &House, input: Value) -> Value {
    let mut input = input;
    // Nobody is asked.
    input["enabled"] = json!(false);
    house.admin("connections.add", input).await
}

// V132, V133, V136, V137, V142, V144, O040, O041, O042
async fn connections_are_made_from_presets(bench: Bench) {
    let house = house(bench, &["http://monzo-mcp:8000/mcp"]).await;
    let bearer = json!({ "type": "bearer", "token": "secret-token-1" });

    let exa = add(
        &house,
        json!({ "preset": "exa", "variant": "key", "auth": bearer }),
    )
    .await;
    assert_eq!(
        (&exa["label"], &exa["url"]),
        (&json!("Exa"), &json!("https://mcp.exa.ai/mcp"))
    );
    assert_eq!(exa["auth"]["header_name"], "x-api-key");
    assert_eq!(exa["transport"], "streamable_http");
    assert_eq!(
        exa["preset"],
        json!({ "id": "exa", "variant": "key", "provided": false })
    );
    assert_eq!(exa["allowed_tools"], json!(["web_search_exa", "web_fetch_exa"]));
    // V045 is about one connection; whoever adds another trusts it like any other.
    assert_eq!((&exa["trusted"], &exa["verified"]), (&json!(false), &Value::Null));

    let sentry = add(
        &house,
        json!({ "preset": "sentry", "variant": "token", "auth": bearer }),
    )
    .await;
    assert_eq!(sentry["auth"]["value_prefix"], "Sentry-Bearer ");
    let tavily = add(
        &house,
        json!({ "preset": "tavily", "variant": "keyless", "label": "Web" }),
    )
    .await;
    assert_eq!(
        (&tavily["label"], &tavily["headers"]),
        (&json!("Web"), &json!(["x-tavily-access-mode"]))
    );
    assert_eq!(
        tavily["allowed_tools"],
        json!(["tavily_search", "tavily_extract"])
    );

    // What moved: the former URL leads to the present one.
    let former = "https://mcp.atlassian.com/v1/mcp/authv2";
    let atlassian = add(&house, json!({ "preset": "atlassian", "url": former })).await;
    assert_eq!(atlassian["url"], "https://mcp.atlassian.com/v2/mcp");
    assert_eq!(atlassian["auth"]["type"], "oauth");

    // Whoever registers no clients is told where to come back to.
    let github = add(&house, json!({ "preset": "github" })).await;
    let account = &github["auth"]["account"];
    assert_eq!(
        account["callback_uri"],
        "http://localhost:7100/api/mcp/auth/callback"
    );
    let own = json!({ "type": "oauth", "client_id": "mine", "client_secret": "very-secret-2" });
    for (variant, label) in [("gmail", "Mail"), ("drive", "Files")] {
        let google = add(
            &house,
            json!({ "preset": "google", "variant": variant, "label": label, "auth": own.clone() }),
        );
        if variant == "gmail" {
            let google = google.await;
            assert_eq!(google["auth"]["account"]["client_id"], "mine");
            assert_eq!(google["auth"]["account"]["issuer"], "https://accounts.google.com");
            assert_eq!(google["preset"]["id"], "google-workspace");
        }
    }

    // Nothing is offered before a person says what.
    let monzo = add(&house, json!({ "preset": "monzo", "auth": bearer })).await;
    assert_eq!(monzo["url"], "http://monzo-mcp:8000/mcp");
    assert_eq!(monzo["preset"]["variant"], "internal");
    assert_eq!(monzo["allowed_tools"], json!([]));
    let own_url = json!({ "preset": "monzo", "variant": "deployed", "label": "M", "auth": bearer, "url": "https://mcp.example.com/a/b" });
    let deployed = add(&house, own_url).await;
    assert_eq!(deployed["url"], "https://mcp.example.com/a/b");
    house.verify().await;
}

// V135, V136, V137
async fn what_does_not_fit_a_preset_is_refused(bench: Bench) {
    let house = house(bench, &[]).await;
    let bearer = json!({ "type": "bearer", "token": "secret-token-1" });
    for (input, field) in [
        (json!({ "preset": "nobody" }), "preset"),
        (json!({ "preset": "exa", "variant": "nothing" }), "variant"),
        (
            json!({ "variant": "key", "label": "x", "url": "https://mcp.exa.ai/mcp" }),
            "variant",
        ),
        (
            json!({ "preset": "monzo", "variant": "internal", "auth": bearer }),
            "variant",
        ),
        (json!({ "preset": "exa", "variant": "key" }), "auth"),
        (json!({ "preset": "exa", "auth": bearer }), "auth"),
        (json!({ "preset": "slack", "auth": bearer }), "auth"),
        (json!({ "preset": "tavily", "auth": { "type": "oauth" } }), "auth"),
        (
            json!({ "preset": "exa", "url": "https://mcp.exa.ai.example/mcp" }),
            "url",
        ),
        (json!({ "preset": "exa", "transport": "sse" }), "transport"),
        (json!({ "preset": "monzo", "auth": bearer }), "url"),
        (
            json!({ "preset": "monzo", "auth": bearer, "url": "http://monzo-mcp:8000/mcp" }),
            "url",
        ),
        (
            json!({ "preset": "monzo", "auth": bearer, "url": "https://127.0.0.1/mcp" }),
            "url",
        ),
        (json!({ "url": "https://mcp.example.com/mcp" }), "label"),
        (json!({ "label": "x" }), "url"),
        (
            json!({ "preset": "exa", "variant": "key", "auth": bearer, "allowed_tools": [] }),
            "allowed_tools",
        ),
    ] {
        let failure = house.ask("connections.add", input.clone()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{input}: {failure}");
        assert_eq!(failure.field.as_deref(), Some(field), "{input}: {failure}");
        assert!(!failure.detail.contains("secret-token-1"), "{failure}");
    }
    let none = house.admin("connections.list", json!({})).await;
    assert_eq!(none["items"], json!([]));
    house.verify().await;
}

/// A house in which Tavily's address leads to this server, connected by its preset and trusted.
async fn tavily(bench: Bench, upstream: &Upstream) -> (House, Front) {
    let front = Front::of("mcp.tavily.com", upstream.address()).await;
    let plan = Plan {
        urls: vec!["https://mcp.tavily.com/mcp/".to_owned()],
        resolver: front.resolver(),
        roots: vec![front.root.clone()],
        ..Plan::default()
    };
    let house = House::build(bench, plan).await;
    let bearer = json!({ "type": "bearer", "token": "tvly-secret-key" });
    let input = json!({ "preset": "tavily", "auth": bearer, "trusted": true });
    house.admin("connections.add", input).await;
    house.change("tavily", json!({ "allowed_tools": null })).await;
    let report = house
        .admin("connections.test", json!({ "connection": "tavily" }))
        .await;
    assert_eq!(report["ok"], true, "{report:#}");
    (house, front)
}

fn search(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Searches.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": { "type": "string" },
                "max_results": { "type": "integer" },
                "include_domains": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["query"],
        },
    })
}

async fn shown_tool(house: &House, name: &str) -> Value {
    let all = house.admin("tools.list", json!({ "agent": "default" })).await;
    let all = all["items"].as_array().unwrap();
    all.iter().find(|tool| tool["tool"] == name).unwrap().clone()
}

// V163, O042: what a preset names is classified when it is first seen, the rest is not; arguments are put right, then checked against
// the narrower schema; the digest stays that of what the server says.
async fn a_presets_word_classifies_and_narrows(bench: Bench) {
    let tools = vec![
        search("tavily_search"),
        tool("tavily_research"),
        tool("brand_new"),
    ];
    let upstream = Upstream::echoing(tools).await;
    let (house, _front) = tavily(bench, &upstream).await;
    for (name, risk, effect, classified) in [
        ("tavily_search", "low", "read_only", true),
        ("tavily_research", "medium", "read_only", true),
        ("brand_new", "high", "mutating", false),
    ] {
        let shown = shown_tool(&house, name).await;
        assert_eq!(
            (&shown["risk"], &shown["effect"], &shown["classified"]),
            (&json!(risk), &json!(effect), &json!(classified)),
            "{name}"
        );
        // A preset grants nobody anything.
        assert_eq!(shown["view"]["reason"], "no_grant");
    }
    house.grant("tavily/tavily_search", "allow").await;
    let view = house.view();
    let shown: Value = serde_json::from_str(view.definition("tavily__tavily_search").unwrap().get()).unwrap();
    assert_eq!(
        shown["inputSchema"]["properties"]["max_results"],
        json!({ "type": "integer", "minimum": 5, "maximum": 20 })
    );
    let plain = connections::definition::Tool::read(Arc::from(
        serde_json::value::to_raw_value(&search("tavily_search")).unwrap(),
    ));
    let pinned = view
        .snapshot()
        .by_name("tavily__tavily_search")
        .unwrap()
        .definition;
    assert_eq!(pinned, plain.unwrap().digest);

    let put_right = json!({ "query": "x", "include_domains": "a.example" });
    let reply = house.call("tavily__tavily_search", put_right).await;
    assert!(reply.outcome.status == domain::Status::Succeeded);
    for refused in [
        json!({ "query": "" }),
        json!({ "query": "x", "max_results": 50 }),
        json!({ "query": "x", "include_domains": 7 }),
        json!({}),
    ] {
        let reply = house.call("tavily__tavily_search", refused).await;
        assert_eq!(reply.outcome.code, Some(domain::OutcomeCode::InvalidArguments));
    }
    assert_eq!(
        upstream.arguments(),
        [json!({ "query": "x", "include_domains": ["a.example"] })]
    );

    // A person's word stands, whatever is seen later.
    house.classify("tavily/tavily_search", "high", "mutating").await;
    house.refresh("tavily").await;
    assert_eq!(shown_tool(&house, "tavily_search").await["risk"], "high");
    house.verify().await;
}

// Tavily's servers renamed their tools. Grants, denials, allowlists and calls by the old name mean the tool it is now.
async fn renamed_tools_answer_to_their_old_names(bench: Bench) {
    let upstream = Upstream::echoing(vec![search("tavily-search"), tool("tavily-extract")]).await;
    let (house, _front) = tavily(bench, &upstream).await;
    house
        .change(
            "tavily",
            json!({ "allowed_tools": ["tavily-search", "tavily-extract"] }),
        )
        .await;
    assert_eq!(shown_tool(&house, "tavily-search").await["risk"], "low");
    // By the new name before the server has it, too.
    house.grant("tavily/tavily_search", "allow").await;
    house.grant("tavily/tavily-extract", "deny").await;
    let arguments = json!({ "query": "x" });
    for name in ["tavily__tavily-search", "tavily__tavily_search"] {
        assert!(
            house.call(name, arguments.clone()).await.outcome.status == domain::Status::Succeeded,
            "{name}"
        );
    }

    upstream.now_lists(vec![search("tavily_search"), tool("tavily_extract")]);
    house.refresh("tavily").await;
    assert_eq!(house.names(), ["tavily__tavily_search"]);
    for name in ["tavily__tavily-search", "tavily__tavily_search"] {
        let reply = house.call(name, arguments.clone()).await;
        assert!(reply.outcome.status == domain::Status::Succeeded, "{name}");
    }
    let called: Vec<String> = upstream
        .calls()
        .iter()
        .map(|params| params["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        called,
        ["tavily-search", "tavily-search", "tavily_search", "tavily_search"]
    );
    assert_eq!(
        shown_tool(&house, "tavily_extract").await["view"]["reason"],
        "grant_denies"
    );
    house.verify().await;
}

/// A server whose answer to a call a test changes.
async fn answering(answer: Arc<Mutex<Value>>) -> Upstream {
    Upstream::answering(
        vec![search("tavily_search"), tool("other")],
        move |request| match &*answer.lock().unwrap() {
            Value::Number(status) => Reply::status(u16::try_from(status.as_u64().unwrap()).unwrap()),
            Value::Null => echo(request),
            answer => Reply::result(request, answer.clone()),
        },
    )
    .await
}

fn said(is_error: bool, text: &str) -> Value {
    json!({ "isError": is_error, "content": [{ "type": "text", "text": text }] })
}

// DESIGN 9: listing proves nothing here; a harmless call does, and stands in the record like any other.
async fn verifying_says_what_a_call_proves(bench: Bench) {
    let answer = Arc::new(Mutex::new(Value::Null));
    let upstream = answering(answer.clone()).await;
    let (house, _front) = tavily(bench, &upstream).await;
    let named = json!({ "connection": "tavily" });
    let before = house.admin("connections.show", named.clone()).await;
    assert_eq!(
        (&before["health_code"], &before["light"]),
        (&json!("ok"), &json!("yellow"))
    );
    let in_band = "{\"error\": \"Unauthorized\", \"status\": 401}";
    for (answers, proof, light) in [
        (Value::Null, "proven", "green"),
        (said(true, "Invalid API key"), "rejected", "red"),
        (said(false, in_band), "rejected", "red"),
        (said(true, "it broke"), "unproven", "yellow"),
        (
            said(false, "{\"code\": \"monthly_cap_reached_bonus_eligible\"}"),
            "unproven",
            "yellow",
        ),
        (said(false, "Detailed Results:"), "proven", "green"),
    ] {
        *answer.lock().unwrap() = answers.clone();
        let found = house.admin("connections.verify", named.clone()).await;
        assert_eq!(found["proof"], proof, "{answers}: {found:#}");
        assert_eq!(found["connection"]["light"], light, "{answers}");
        assert_eq!(found["connection"]["verified"]["proof"], proof);
        assert_eq!(found["tool"], "tavily_search");
        let call = found["call_id"].as_str().unwrap().parse().unwrap();
        let item = house.item(call).await;
        let decided = super::house::Decided::of(&item);
        assert_eq!(
            (&*decided.decision, decided.reason.code.as_str()),
            ("allow", "role_allows")
        );
        assert_eq!(item.decided.actor.agent, None);
    }
    assert_eq!(upstream.calls().len(), 6);

    *answer.lock().unwrap() = json!(401);
    let found = house.admin("connections.verify", named.clone()).await;
    assert_eq!(
        (&found["proof"], &found["connection"]["light"]),
        (&json!("rejected"), &json!("red"))
    );

    // No agent starts it, and what a person said of the tool holds.
    let denied = house
        .ask_as(house.caller, Surface::Api, ("connections.verify", named.clone()))
        .await;
    assert_eq!(denied.unwrap_err().kind, FailureKind::Forbidden);
    let calls = upstream.calls().len();
    house.classify("tavily/tavily_search", "low", "mutating").await;
    let found = house.admin("connections.verify", named.clone()).await;
    assert_eq!(
        (&found["proof"], &found["call_id"]),
        (&json!("unproven"), &Value::Null)
    );
    house.classify("tavily/tavily_search", "low", "read_only").await;
    house.change("tavily", json!({ "enabled": false })).await;
    let found = house.admin("connections.verify", named).await;
    assert_eq!(
        (&found["proof"], &found["call_id"]),
        (&json!("unproven"), &Value::Null)
    );
    assert_eq!(upstream.calls().len(), calls);

    let plain = json!({ "label": "plain", "url": "https://8.8.8.8/mcp", "enabled": false });
    house.admin("connections.add", plain).await;
    let found = house
        .admin("connections.verify", json!({ "connection": "plain" }))
        .await;
    assert_eq!(
        (&found["proof"], &found["tool"], &found["connection"]["verified"]),
        (&json!("unproven"), &Value::Null, &Value::Null)
    );
    house.verify().await;
}

async fn what_was_proven_is_forgotten_with_the_account(bench: Bench) {
    let upstream = answering(Arc::new(Mutex::new(Value::Null))).await;
    let (house, _front) = tavily(bench, &upstream).await;
    let named = json!({ "connection": "tavily" });
    let bearer = json!({ "type": "bearer", "token": "tvly-other" });
    for (change, forgotten) in [
        (json!({ "label": "Web" }), false),
        (json!({ "allowed_tools": ["tavily_search"] }), false),
        (json!({ "auth": bearer }), true),
        (json!({ "headers": [{ "name": "x-more", "value": "1" }] }), true),
    ] {
        let found = house.admin("connections.verify", named.clone()).await;
        assert_eq!(found["proof"], "proven");
        house.change("tavily", change.clone()).await;
        let now = house.admin("connections.show", named.clone()).await;
        assert_eq!(now["verified"].is_null(), forgotten, "{change}");
    }
    // At another address it is not Tavily's any more, and what the preset says of Tavily does not hold there.
    let moved = json!({ "url": "https://8.8.8.8/mcp", "auth": bearer, "enabled": false });
    house.change("tavily", moved).await;
    let now = house.admin("connections.show", named).await;
    assert_eq!((&now["preset"], &now["trusted"]), (&Value::Null, &json!(false)));
    house.verify().await;
}
