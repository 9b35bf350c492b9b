//! Searching servers that could be connected: presets first, then a registry over loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use connections::registry::RegistryOptions;
use mcp::egress::Egress;
use serde_json::{Value, json};
use testkit::cases;
use testkit::scripted::{Reply, Scripted};
use url::Url;

use super::both;
use super::house::{Bench, House, Plan};

both!(
    presets_come_first_and_then_the_registry,
    every_case_of_a_registry_is_shown,
    a_registry_that_fails_hides_no_preset,
);

/// A registry with these pages by cursor.
async fn registry(page: impl Fn(&Url) -> Reply + Send + Sync + 'static) -> Scripted {
    Scripted::start(move |request| {
        let url = Url::parse(&format!("http://registry.test{}", request.uri)).unwrap();
        assert_eq!(url.path(), "/v0.1/servers");
        page(&url)
    })
    .await
    .unwrap()
}

fn asked(url: &Url, name: &str) -> Option<String> {
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

async fn house(bench: Bench, registry: &Scripted, registered: bool) -> House {
    let mut base = Url::parse(registry.url()).unwrap();
    base.set_path("/");
    let egress = if registered {
        Egress::public().register(base.as_str()).unwrap()
    } else {
        Egress::public()
    };
    let options = RegistryOptions {
        url: Some(base),
        egress: Arc::new(egress),
        keep: Duration::from_secs(600),
    };
    let plan = Plan {
        registry: options,
        ..Plan::default()
    };
    House::build(bench, plan).await
}

async fn search(house: &House, input: Value) -> Value {
    house.admin("search_mcp_registry", input).await
}

fn ids(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

fn listed(name: &str) -> Value {
    json!({ "server": { "name": name, "description": "x", "version": "1" } })
}

// O036, O037: what is verified comes first, pages follow one another to the end, and what was read is kept.
async fn presets_come_first_and_then_the_registry(bench: Bench) {
    let served = Arc::new(AtomicUsize::new(0));
    let counted = served.clone();
    let registry = registry(move |url| {
        counted.fetch_add(1, Ordering::Relaxed);
        assert_eq!(asked(url, "version").as_deref(), Some("latest"));
        let (servers, next) = match asked(url, "cursor").as_deref() {
            None => (
                vec![listed("com.example/linear-tools"), listed("app.linear/linear")],
                "at:2",
            ),
            Some("at:2") => (vec![listed("io.github.one/linear")], ""),
            Some(other) => unreachable!("{other}"),
        };
        Reply::json(
            200,
            &json!({ "servers": servers, "metadata": { "nextCursor": next } }),
        )
    })
    .await;
    let house = house(bench, &registry, true).await;
    let first = search(&house, json!({ "query": "LINEAR" })).await;
    // The registry's own entry of what a preset stands for is not shown beside it.
    assert_eq!(ids(&first), ["verified/linear", "com.example/linear-tools"]);
    let linear = &first["items"][0];
    assert_eq!(
        (
            &linear["publisher"],
            &linear["publisher_verified"],
            &linear["ownership"]["kind"]
        ),
        (&json!("Linear"), &json!(true), &json!("catalogue"))
    );
    assert_eq!(
        (
            &linear["auth"],
            &linear["oauth_registration"],
            &linear["transports"]
        ),
        (&json!("oauth"), &json!("dynamic"), &json!(["streamable-http"]))
    );
    let more = search(
        &house,
        json!({ "query": "LINEAR", "cursor": first["next_cursor"] }),
    )
    .await;
    assert_eq!(
        (ids(&more), &more["next_cursor"]),
        (vec!["io.github.one/linear"], &Value::Null)
    );

    // Whoever pages in small steps sees everything once.
    let mut all = Vec::new();
    let mut input = json!({ "limit": 3 });
    loop {
        let page = search(&house, input.clone()).await;
        assert!(page["items"].as_array().unwrap().len() <= 3);
        all.extend(ids(&page).into_iter().map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(cursor) => input["cursor"] = json!(cursor),
            None => break,
        }
    }
    let verified = all.iter().filter(|id| id.starts_with("verified/")).count();
    assert_eq!(verified, 14, "{all:?}");
    assert!(!all.iter().any(|id| id.contains("monzo")), "others wrote it");
    assert!(all.contains(&"io.github.one/linear".to_owned()));
    let once: std::collections::HashSet<&String> = all.iter().collect();
    assert_eq!(once.len(), all.len(), "{all:?}");

    let before = served.load(Ordering::Relaxed);
    search(&house, json!({ "query": "LINEAR" })).await;
    assert_eq!(served.load(Ordering::Relaxed), before, "kept");
    strange_inputs_are_refused(&house).await;
    house.verify().await;
}

async fn strange_inputs_are_refused(house: &House) {
    for cursor in ["x", "p:", "p:-1", "p:x", ""] {
        let failure = house
            .ask("search_mcp_registry", json!({ "cursor": cursor }))
            .await
            .unwrap_err();
        assert_eq!(failure.field.as_deref(), Some("cursor"), "{cursor}");
    }
    let long = house
        .ask("search_mcp_registry", json!({ "query": "x".repeat(121) }))
        .await;
    assert!(long.is_err());
}

// O037, against pages as the official registry has them.
async fn every_case_of_a_registry_is_shown(bench: Bench) {
    let Some(folder) = cases::folder() else {
        println!("no cases are at hand; the small samples are in the crate's own tests");
        return;
    };
    let read = |n: u8| {
        let path = folder.join(format!("registry/list-v0.1-servers.page{n}.json"));
        serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let (one, two) = (read(1), read(2));
    let second = one["metadata"]["nextCursor"].as_str().unwrap().to_owned();
    let registry = registry(move |url| match asked(url, "cursor") {
        None => Reply::json(200, &one),
        Some(cursor) if cursor == second => Reply::json(200, &two),
        Some(other) => unreachable!("{other}"),
    })
    .await;
    let house = house(bench, &registry, true).await;
    // Past the presets.
    let first = search(&house, json!({ "cursor": "r:", "limit": 30 })).await;
    let more = search(&house, json!({ "cursor": first["next_cursor"], "limit": 30 })).await;
    assert_eq!(more["next_cursor"], Value::Null);
    let items: Vec<&Value> = [&first, &more]
        .into_iter()
        .flat_map(|page| page["items"].as_array().unwrap())
        .collect();
    let of = |id: &str| {
        let mut found = items.iter().filter(|item| item["id"] == id);
        let only = found.next().unwrap_or_else(|| panic!("{id} is missing"));
        assert!(found.next().is_none(), "{id} is there twice");
        *only
    };
    let airtable = of("io.github.example-dev/airtable-mcp-server");
    assert_eq!(airtable["version"], "1.7.3");
    assert_eq!(
        (
            &airtable["connectable"],
            &airtable["transports"],
            &airtable["publisher_verified"]
        ),
        (&json!(false), &json!(["stdio"]), &json!(false))
    );
    let apify = of("com.apify/apify-mcp-server");
    assert_eq!(
        (&apify["ownership"], &apify["auth"], &apify["connectable"]),
        (
            &json!({ "kind": "domain", "subject": "apify.com" }),
            &json!("bearer"),
            &json!(true)
        )
    );
    let regions = of("com.example/multi-region-mcp");
    assert_eq!(
        (&regions["connectable"], &regions["asks_for"]),
        (&json!(false), &json!(["region"]))
    );
    let slack = of("ai.smithery/smithery-ai-slack");
    assert_eq!(
        (&slack["publisher"], &slack["auth"]),
        (&json!("smithery.ai"), &json!("bearer"))
    );
    let context7 = of("io.github.upstash/context7");
    assert_eq!(context7["publisher"], "upstash at GitHub");
    assert_eq!(context7["transports"], json!(["streamable-http", "stdio"]));
    house.verify().await;
}

async fn a_registry_that_fails_hides_no_preset(bench: Bench) {
    let answers = Arc::new(AtomicUsize::new(0));
    let counted = answers.clone();
    let registry = registry(move |_| match counted.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::status(503),
        1 => Reply::bytes(200, "<html>"),
        2 => Reply::status(302).header("location", "https://elsewhere.example/"),
        3 => Reply::bytes(200, vec![b' '; 5 * 1024 * 1024]),
        4 => Reply::close(),
        _ => Reply::json(200, &json!({ "servers": [listed("com.example/exa")] })),
    })
    .await;
    let house = house(bench, &registry, true).await;
    for _ in 0..5 {
        let page = search(&house, json!({ "query": "exa" })).await;
        assert_eq!(
            (ids(&page), &page["registry_reachable"]),
            (vec!["verified/exa"], &json!(false))
        );
        assert_eq!(page["next_cursor"], Value::Null);
    }
    // What failed is not kept.
    let page = search(&house, json!({ "query": "exa" })).await;
    assert_eq!(ids(&page), ["verified/exa", "com.example/exa"]);
    assert_eq!(page["registry_reachable"], true);
    house.verify().await;

    // Nobody registered this address for it.
    let asked = registry.received().len();
    let bench = Bench::sqlite();
    let strict = self::house(bench, &registry, false).await;
    let page = search(&strict, json!({ "query": "exa" })).await;
    assert_eq!(page["registry_reachable"], false);
    assert_eq!(registry.received().len(), asked);
    strict.verify().await;
}
