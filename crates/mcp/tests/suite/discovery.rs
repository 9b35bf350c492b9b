//! Listing everything, within bounds.

use std::sync::Arc;
use std::time::Duration;

use mcp::discovery::{Bounds, Kind, Listing, list_all};
use mcp::{RequestError, Silent, Transport, Upstream};
use serde_json::{Value, json};

use crate::server::{Reply, Seen, Server};
use crate::watch::{http, target};

async fn list(
    kind: Kind,
    bounds: Bounds,
    page: impl Fn(&Seen, Option<&str>) -> Value + Send + Sync + 'static,
) -> (Result<Listing, RequestError>, usize) {
    let server = Server::start(move |seen| match seen.method() {
        "server/discover" => Reply::json(&seen.result(
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"prompts": {}, "resources": {}}}),
        )),
        _ => Reply::json(&page(seen, seen.body["params"]["cursor"].as_str())),
    })
    .await;
    let transport = Transport::StreamableHttp(http(&server.url()));
    let upstream = Upstream::connect(target(transport), None, Arc::new(Silent))
        .await
        .unwrap();
    let listing = list_all(&upstream, kind, bounds).await;
    (listing, server.methods().len() - 1)
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

#[tokio::test]
async fn pages_are_followed_and_items_untouched() {
    for (kind, member, key) in [
        (Kind::Tools, "tools", "name"),
        (Kind::Prompts, "prompts", "name"),
        (Kind::Resources, "resources", "uri"),
        (Kind::Templates, "resourceTemplates", "uriTemplate"),
    ] {
        let (listing, requests) = list(kind, Bounds::default(), move |seen, cursor| {
            let at: u64 = cursor.map_or(0, |cursor| cursor.parse().unwrap());
            let item = json!({key: format!("n{at}"), "inputSchema": {}, "vendor": {"x": 1.0}});
            let mut page = json!({member: [item], "ttlMs": 1000 * (3 - at), "cacheScope": "public"});
            if at < 2 {
                page["nextCursor"] = json!((at + 1).to_string());
            }
            seen.result(page)
        })
        .await;
        let listing = listing.unwrap();
        let items: Vec<&str> = listing.items.iter().map(|item| item.get()).collect();
        let want = (0..3).map(|n| format!(r#"{{"{key}":"n{n}","inputSchema":{{}},"vendor":{{"x":1.0}}}}"#));
        assert_eq!(items, want.collect::<Vec<_>>());
        assert_eq!((requests, listing.truncated, listing.private), (3, false, false));
        assert_eq!(listing.ttl, Some(Duration::from_secs(1)));
        assert_eq!(listing.problems, []);
    }
}

#[tokio::test]
async fn loops_and_bounds_end_a_listing() {
    let bounds = Bounds {
        max_items: 4,
        max_bytes: 1000,
        max_pages: 3,
    };
    let check = async |bounds: Bounds, next: fn(usize) -> String, items: usize, requests: usize| {
        let (listing, seen) = list(Kind::Tools, bounds, move |seen, cursor| {
            let at: usize = cursor
                .and_then(|cursor| cursor.strip_prefix('c')?.parse().ok())
                .unwrap_or(0);
            seen.result(json!({"tools": [tool(&format!("t{at}"))], "nextCursor": next(at)}))
        })
        .await;
        let listing = listing.unwrap();
        assert_eq!((listing.items.len(), seen), (items, requests), "{bounds:?}");
        assert_eq!(listing.truncated, requests > 1, "{bounds:?}");
    };
    let endless = |at: usize| format!("c{}", at + 1);
    check(bounds, endless, 3, 3).await;
    check(
        Bounds {
            max_pages: 200,
            ..bounds
        },
        endless,
        4,
        5,
    )
    .await;
    check(
        Bounds {
            max_bytes: 90,
            ..bounds
        },
        endless,
        2,
        3,
    )
    .await;
    check(
        Bounds {
            max_pages: 200,
            ..bounds
        },
        |_| "c1".into(),
        2,
        2,
    )
    .await;
    check(bounds, |_| String::new(), 1, 1).await;
}

#[tokio::test]
async fn a_bad_item_costs_only_itself() {
    let header =
        |name: &str| json!({"type": "object", "properties": {"p": {"type": "string", "x-mcp-header": name}}});
    let items = json!([
        tool("one"), 7, {"inputSchema": {}}, {"name": "", "inputSchema": {}}, {"name": 3, "inputSchema": {}},
        {"name": "null", "inputSchema": null}, {"name": "missing"}, tool("one"),
        {"name": "hint", "inputSchema": {}, "annotations": {"readOnlyHint": "yes"}},
        {"name": "good-header", "inputSchema": header("P")}, {"name": "bad-header", "inputSchema": header("a b")},
    ]);
    let (listing, _) = list(Kind::Tools, Bounds::default(), move |seen, _| {
        seen.result(json!({"tools": items}))
    })
    .await;
    let listing = listing.unwrap();
    let names: Vec<String> = listing
        .items
        .iter()
        .map(|item| {
            serde_json::from_str::<Value>(item.get()).unwrap()["name"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(names, ["one", "hint", "good-header"]);
    let problems: Vec<_> = listing
        .problems
        .iter()
        .map(|p| (p.index, p.name.as_deref()))
        .collect();
    assert_eq!(
        problems,
        [
            (1, None),
            (2, None),
            (3, None),
            (4, None),
            (5, Some("null")),
            (6, Some("missing")),
            (7, Some("one")),
            (10, Some("bad-header")),
        ]
    );
}

#[tokio::test]
async fn nothing_offered_and_nonsense() {
    let (listing, requests) = list(Kind::Prompts, Bounds::default(), |seen, _| {
        seen.error(-32601, json!(null))
    })
    .await;
    assert!(listing.unwrap().items.is_empty());
    assert_eq!(requests, 1);
    let (listing, _) = list(Kind::Tools, Bounds::default(), |seen, _| {
        seen.result(json!({"tools": null}))
    })
    .await;
    assert!(matches!(listing, Err(RequestError::Malformed(_))));
    let (listing, _) = list(Kind::Tools, Bounds::default(), |seen, _| {
        seen.error(-32603, json!(null))
    })
    .await;
    assert!(matches!(listing, Err(RequestError::Rpc { code: -32603, .. })));
}
