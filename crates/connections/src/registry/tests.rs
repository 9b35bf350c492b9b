//! Pages as registries have them, also those that should not be.

use serde_json::{Value, json};

use super::{Auth, Ownership, Page, Wanted, address};

fn page(servers: Value) -> Page {
    let document = json!({ "servers": servers, "metadata": { "nextCursor": "a:1", "count": 1 } });
    Page::read(document.to_string().as_bytes(), 30).unwrap()
}

fn official(status: &str, latest: bool) -> Value {
    json!({ "io.modelcontextprotocol.registry/official": { "status": status, "isLatest": latest, "statusMessage": "Use 2" } })
}

fn server(name: &str) -> Value {
    json!({ "server": { "name": name, "description": "x", "version": "1" }, "_meta": official("active", true) })
}

// O037: a name proves its namespace, and GitHub's only the account.
#[test]
fn publishers_are_told_by_what_was_proven() {
    for (name, expected) in [
        (
            "io.github.upstash/context7",
            Some(Ownership::Github("upstash".into())),
        ),
        (
            "com.atlassian/atlassian-mcp-server",
            Some(Ownership::Domain("atlassian.com".into())),
        ),
        (
            "com.cloudflare.mcp/mcp",
            Some(Ownership::Domain("mcp.cloudflare.com".into())),
        ),
        // Somebody else's server for Slack.
        (
            "ai.smithery/smithery-ai-slack",
            Some(Ownership::Domain("smithery.ai".into())),
        ),
        ("localname/x", Some(Ownership::Unproven("localname".into()))),
        (
            "io.github.Some-One/Their_Server",
            Some(Ownership::Github("Some-One".into())),
        ),
        ("noslash", None),
        ("a/b/c", None),
        ("<<McpRepositoryName>>", None),
        ("io.github.x/", None),
        ("a b.c/d", None),
    ] {
        let read = page(json!([server(name)]));
        assert_eq!(
            read.servers.first().map(|s| s.ownership.clone()),
            expected,
            "{name}"
        );
        assert_eq!(read.unreadable, usize::from(expected.is_none()), "{name}");
    }
}

#[test]
fn the_newest_version_is_kept_and_one_bad_entry_hides_no_other() {
    let mut old = server("io.github.a/b");
    old["_meta"] = official("active", false);
    let mut deprecated = server("io.github.a/old");
    deprecated["_meta"] = official("deprecated", true);
    let mut deleted = server("io.github.a/gone");
    deleted["_meta"] = official("deleted", true);
    let flat = json!({ "name": "io.github.a/flat", "description": "before v0.1", "version": "1" });
    let read = page(json!([
        old,
        server("io.github.a/b"),
        server("io.github.a/b"),
        7,
        {},
        { "server": { "name": 1 } },
        deprecated,
        deleted,
        flat
    ]));
    let names: Vec<&str> = read.servers.iter().map(|server| &*server.name).collect();
    assert_eq!(names, ["io.github.a/b", "io.github.a/old", "io.github.a/flat"]);
    assert_eq!(read.unreadable, 3);
    assert_eq!(read.next.as_deref(), Some("a:1"));
    assert_eq!(read.servers[1].status, "deprecated");
    assert_eq!(read.servers[1].status_message.as_deref(), Some("Use 2"));
    for broken in ["", "[]", "{}", "{\"servers\": 7}", "<html>"] {
        assert!(Page::read(broken.as_bytes(), 30).is_none(), "{broken}");
    }
    assert_eq!(
        Page::read(br#"{"servers": []}"#, 30).unwrap().next,
        None,
        "no metadata is the end"
    );
}

// O037: transports and authentication, as far as an entry says.
#[test]
fn remotes_say_how_one_proves_oneself() {
    let remote = |remote: Value| {
        let mut server = server("com.example/x");
        server["server"]["remotes"] = json!([remote]);
        page(json!([server])).servers.remove(0).remotes.remove(0)
    };
    let header = |header: Value| {
        remote(json!({ "type": "streamable-http", "url": "https://a.example/mcp", "headers": [header] }))
    };
    let named = |name: &str, prefix: &str| Auth::Header {
        name: name.into(),
        prefix: prefix.into(),
    };
    for (given, auth, asks_for) in [
        (
            json!({ "name": "Authorization", "isSecret": true }),
            Auth::Bearer,
            vec![],
        ),
        (
            json!({ "name": "Authorization", "value": "Bearer {key}" }),
            Auth::Bearer,
            vec![],
        ),
        (
            json!({ "name": "Authorization", "value": "Sentry-Bearer {key}", "variables": { "key": { "isSecret": true } } }),
            named("Authorization", "Sentry-Bearer "),
            vec![],
        ),
        (
            json!({ "name": "X-Api-Key", "isSecret": true }),
            named("X-Api-Key", ""),
            vec![],
        ),
        (
            json!({ "name": "X-Key", "value": "{k}", "variables": { "k": { "isSecret": true } } }),
            named("X-Key", ""),
            vec![],
        ),
        (json!({ "name": "X-Region" }), Auth::Unknown, vec!["X-Region"]),
        (
            json!({ "name": "X-Region", "value": "eu" }),
            Auth::Unknown,
            vec![],
        ),
        (
            json!({ "name": "X-Region", "value": "{region}" }),
            Auth::Unknown,
            vec!["X-Region"],
        ),
    ] {
        let found = header(given.clone());
        assert_eq!(
            (found.auth, found.asks_for),
            (auth, asks_for.into_iter().map(str::to_owned).collect()),
            "{given}"
        );
        assert_eq!(found.hindrance, None);
    }
    for (transport, url, can) in [
        ("streamable-http", "https://a.example/mcp", true),
        ("sse", "https://a.example/mcp", true),
        ("streamable-http", "http://a.example/mcp", false),
        ("streamable-http", "https://a.example/{region}/mcp", false),
        ("websocket", "https://a.example/mcp", false),
        ("sse", "not a url", false),
    ] {
        let found = remote(json!({ "type": transport, "url": url }));
        assert_eq!(found.hindrance.is_none(), can, "{transport} {url}");
    }
}

#[test]
fn texts_are_cut_and_kept_on_one_line() {
    let mut server = server("com.example/x");
    server["server"]["description"] = json!(format!("a\nb\u{7}{}", "x".repeat(5_000)));
    server["server"]["packages"] = json!(vec![json!({ "registryType": "npm", "identifier": "p" }); 500]);
    server["server"]["icons"] =
        json!([{ "src": "http://a.example/i.png" }, { "src": "https://a.example/i.png" }]);
    let read = page(json!([server])).servers.remove(0);
    assert!(read.description.starts_with("a b xxx"));
    assert_eq!((read.description.chars().count(), read.packages.len()), (500, 30));
    assert_eq!(read.icon.as_deref(), Some("https://a.example/i.png"));
    assert_eq!(read.packages[0].transport, "stdio");
}

#[test]
fn addresses_stay_at_the_registry() {
    let wanted = |query: &str, cursor: Option<&str>| Wanted {
        query: query.into(),
        cursor: cursor.map(Into::into),
        limit: 20,
    };
    let base = |text: &str| url::Url::parse(text).unwrap();
    for (at, wanted, expected) in [
        (
            "https://r.example",
            wanted("", None),
            "https://r.example/v0.1/servers?limit=20&version=latest",
        ),
        (
            "https://r.example/mirror/",
            wanted("a&b=c/../#", Some("io.github.a/b:1")),
            "https://r.example/mirror/v0.1/servers?limit=20&version=latest&search=a%26b%3Dc%2F..%2F%23&cursor=io.github.a%2Fb%3A1",
        ),
    ] {
        assert_eq!(address(&base(at), &wanted).unwrap().as_str(), expected);
    }
    let long = "x".repeat(600);
    assert!(address(&base("https://r.example"), &wanted("", Some(&long))).is_err());
}
