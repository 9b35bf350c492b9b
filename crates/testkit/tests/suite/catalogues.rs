//! What published servers listed, recorded and replayed: everything arrives as it was, and one bad item costs only
//! itself.

use std::sync::Arc;

use mcp::discovery::{Bounds, Kind, list_all};
use mcp::http::{HttpClient, HttpOptions};
use mcp::version::Era;
use mcp::wire::raw;
use mcp::{ClientProfile, HttpTarget, Limits, RequestError, Silent, Target, Transport, Upstream};
use serde_json::json;
use serde_json::value::RawValue;
use testkit::cases::catalogues;
use testkit::catalogue_server::{Catalogue, CatalogueServer};
use url::Url;

async fn connect(url: &str) -> Upstream {
    let egress = mcp::egress::Egress::public().register(url).unwrap();
    let http = HttpClient::new(HttpOptions {
        egress: Arc::new(egress),
        ..HttpOptions::default()
    });
    let target = Target {
        transport: Transport::StreamableHttp(HttpTarget::new(Url::parse(url).unwrap(), http.unwrap())),
        client: ClientProfile::new("switchboard-tests", "1", raw(&json!({})).unwrap()).unwrap(),
        limits: Limits::default(),
    };
    Upstream::connect(target, None, Arc::new(Silent)).await.unwrap()
}

fn texts(items: &[Box<RawValue>]) -> Vec<&str> {
    items.iter().map(|item| item.get()).collect()
}

const KINDS: [Kind; 4] = [Kind::Tools, Kind::Prompts, Kind::Resources, Kind::Templates];

/// Lists everything from a server that replays `catalogue` and compares it with what was recorded, byte for byte;
/// returns the number of tools.
async fn check(name: &str, catalogue: &Catalogue, server: &CatalogueServer) -> usize {
    let upstream = connect(&server.url(name)).await;
    let modern = upstream.negotiated().version.era() == Era::Modern;
    let mut tools = 0;
    for kind in KINDS {
        let listing = match list_all(&upstream, kind, Bounds::default()).await {
            Ok(listing) => listing,
            Err(RequestError::Rpc { code, .. }) => {
                assert_eq!(Some(code), catalogue.list_error(kind.method()), "{name} {kind:?}");
                continue;
            }
            // One published server answers with something else than the list.
            Err(RequestError::Malformed(_)) if kind != Kind::Tools => {
                let recorded = catalogue.items(kind.method(), modern).unwrap();
                assert!(recorded.is_empty(), "{name} {kind:?}");
                continue;
            }
            Err(error) => panic!("{name} {kind:?}: {error}"),
        };
        assert_eq!(
            (listing.problems, listing.truncated),
            (Vec::new(), false),
            "{name} {kind:?}"
        );
        if kind == Kind::Tools {
            tools = listing.items.len();
        } else if !kind.announced_by(upstream.server()) {
            // Not asked for.
            continue;
        }
        let recorded = catalogue.items(kind.method(), modern).unwrap();
        let same = texts(&listing.items) == texts(&recorded);
        assert!(same, "{name}: {kind:?} differ from what was recorded");
    }
    upstream.close().await;
    tools
}

#[tokio::test]
async fn every_recorded_tool_arrives_byte_for_byte() {
    let recorded = catalogues().unwrap();
    for page_size in [None, Some(7)] {
        let served: Vec<(String, Catalogue)> = recorded
            .iter()
            .map(|(name, catalogue)| {
                let catalogue = catalogue.clone();
                let paged = page_size.map_or(catalogue.clone(), |size| catalogue.with_page_size(size));
                (name.clone(), paged)
            })
            .collect();
        let server = CatalogueServer::start(served).await.unwrap();
        let mut tools = 0;
        for (name, catalogue) in &recorded {
            tools += check(name, catalogue, &server).await;
        }
        eprintln!(
            "{} servers, {tools} tools, pages of {page_size:?}",
            recorded.len()
        );
    }
}

/// One page that names itself as the next, with tools nobody can use among those that work.
const ODD: &str = r#"{
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "odd", "version": "1"}},
    "toolsPages": [{"nextCursor": "after-0", "tools": [
        {"name": "first",  "inputSchema": {"type":"object"}, "vendor": 1e0},
        {"name": "null", "inputSchema": null},
        42,
        {"name": "", "inputSchema": {}},
        {"title": "nameless", "inputSchema": {}},
        {"name": "last", "inputSchema": {}, "annotations": {"readOnlyHint": "yes"}}
    ]}]
}"#;

#[tokio::test]
async fn odd_items_and_endless_pages_cost_only_themselves() {
    let odd = Catalogue::parse(ODD).unwrap();
    let served = [
        ("endless".to_owned(), odd.clone()),
        // The same cut into pages that end.
        ("paged".to_owned(), odd.with_page_size(2)),
    ];
    let server = CatalogueServer::start(served).await.unwrap();
    for (name, endless) in [("endless", true), ("paged", false)] {
        let upstream = connect(&server.url(name)).await;
        let listing = list_all(&upstream, Kind::Tools, Bounds::default()).await.unwrap();
        let kept = [
            r#"{"name": "first",  "inputSchema": {"type":"object"}, "vendor": 1e0}"#,
            r#"{"name": "last", "inputSchema": {}, "annotations": {"readOnlyHint": "yes"}}"#,
        ];
        assert_eq!(texts(&listing.items), kept, "{name}");
        assert_eq!(listing.truncated, endless, "{name}");
        let skipped: Vec<_> = listing
            .problems
            .iter()
            .take(4)
            .map(|problem| problem.index)
            .collect();
        assert_eq!(skipped, [1, 2, 3, 4], "{name}: {:?}", listing.problems);
        assert_eq!(listing.problems[0].name.as_deref(), Some("null"));
        assert_eq!(listing.problems.len() > 4, endless, "{:?}", listing.problems);
        upstream.close().await;
    }
}
