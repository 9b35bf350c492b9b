//! What published servers listed, recorded, replayed and exposed by one Switchboard: every tool is there under a name of its own and
//! otherwise byte for byte as its server said it, the same after a restart.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ConnectionId, DefinitionState};
use http::Method;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use testkit::cases::catalogues;
use testkit::catalogue_server::{Catalogue, CatalogueServer, Discovery};
use testkit::house::House;
use testkit::http::send;

/// Longest name of a tool as agents see it.
const LONGEST: usize = 46;

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    result: Page<'a>,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(rename = "nextCursor")]
    next: Option<String>,
}

/// A definition without its name's value.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone)]
struct Definition {
    name: String,
    rest: String,
    /// Whether arguments are needed to call it.
    demanding: bool,
}

impl Definition {
    fn of(item: &RawValue) -> Self {
        let text = item.get();
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap();
        let name = members["name"].get();
        let at = name.as_ptr().addr() - text.as_ptr().addr();
        let rest = [&text[..at], &text[at + name.len()..]].concat();
        let name = serde_json::from_str(name).unwrap();
        let schema: Value = serde_json::from_str(members["inputSchema"].get()).unwrap();
        let demanding = schema["required"]
            .as_array()
            .is_some_and(|names| !names.is_empty());
        Self {
            name,
            rest,
            demanding,
        }
    }
}

async fn post(house: &House, method: &str, params: Value) -> bytes::Bytes {
    let key = format!("Bearer {}", house.agent_key);
    let headers = [
        ("authorization", &*key),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let answer = send(Method::POST, &format!("{}/mcp", house.url), &headers, body)
        .await
        .unwrap();
    assert!(answer.status.is_success(), "{answer:?}");
    answer.body
}

/// Everything the agent sees, in order.
async fn listed(house: &House) -> Vec<Definition> {
    let mut all = Vec::new();
    let mut params = json!({});
    loop {
        let body = post(house, "tools/list", params).await;
        let page = serde_json::from_slice::<Listed<'_>>(&body).unwrap().result;
        all.extend(page.tools.into_iter().map(Definition::of));
        match page.next {
            Some(next) => params = json!({ "cursor": next }),
            None => return all,
        }
    }
}

/// One recorded server as it is connected.
struct Recorded {
    namespace: String,
    tools: Vec<Definition>,
    id: ConnectionId,
}

/// A namespace for each catalogue: its name, cut where it is too long.
fn namespace(index: usize, name: &str) -> String {
    match name.len() {
        0..=20 => name.to_owned(),
        _ => format!("{}-{index}", &name[..16]),
    }
}

async fn connect(house: &House, server: &CatalogueServer, recorded: &[(String, Catalogue)]) -> Vec<Recorded> {
    let namespaces: Vec<String> = (0..)
        .zip(recorded)
        .map(|(index, (name, _))| namespace(index, name))
        .collect();
    let urls = recorded.iter().map(|(name, _)| server.url(name));
    let servers: Vec<(&str, String)> = namespaces.iter().map(String::as_str).zip(urls).collect();
    let ids = house.connect_all(&servers).await;
    prepare(house, recorded, &ids).await;
    house.grant_all(house.agent, &ids).await;
    let each = recorded.iter().zip(namespaces).zip(ids);
    each.map(|(((_, catalogue), namespace), id)| {
        let modern = matches!(catalogue.discovery(), Discovery::Result(_));
        let tools = catalogue.items("tools/list", modern).unwrap();
        let tools = tools.iter().map(|tool| Definition::of(tool)).collect();
        Recorded { namespace, tools, id }
    })
    .collect()
}

/// Discovers everything, and fails exactly where the server failed when it was recorded.
async fn prepare(house: &House, recorded: &[(String, Catalogue)], ids: &[ConnectionId]) {
    let failed = house.prepare_all(ids).await;
    for ((name, catalogue), id) in recorded.iter().zip(ids) {
        let why = failed.iter().find(|(failed, _)| failed == id);
        assert_eq!(
            why.is_some(),
            catalogue.list_error("tools/list").is_some(),
            "{name}: {why:?}"
        );
    }
}

/// The digest each tool's calls are made by, and the reasons of those that cannot be called.
async fn digests(house: &House) -> (BTreeMap<(ConnectionId, String), String>, BTreeMap<String, String>) {
    let (mut digests, mut unusable) = (BTreeMap::new(), BTreeMap::new());
    for pin in house.store.list_pins(house.tenant, None).await.unwrap() {
        let settled = matches!(pin.state, DefinitionState::Pinned | DefinitionState::Unusable);
        assert!(settled, "{} is {:?}", pin.name, pin.state);
        if let Some(reason) = pin.unusable {
            unusable.insert(pin.name.to_string(), reason);
        }
        let digest = pin.accepted.unwrap().digest.to_string();
        digests.insert((pin.connection, pin.name.to_string()), digest);
    }
    (digests, unusable)
}

// V064 X005 X006 X008
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_is_exposed_as_its_server_said_it() {
    let recorded = catalogues().unwrap();
    let server = CatalogueServer::start(recorded.clone()).await.unwrap();
    let urls: Vec<String> = recorded.iter().map(|(name, _)| server.url(name)).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let house = House::start(&urls).await;
    let servers = connect(&house, &server, &recorded).await;
    let exposed = listed(&house).await;
    let (before, unusable) = digests(&house).await;
    let renamed = compare(&servers, &exposed);
    let called = call(&house, &renamed).await;

    let house = house.restart(&urls).await;
    assert_eq!(listed(&house).await, exposed, "the list differs after a restart");
    let ids: Vec<ConnectionId> = servers.iter().map(|server| server.id).collect();
    prepare(&house, &recorded, &ids).await;
    assert_eq!(digests(&house).await.0, before, "digests differ after a restart");
    assert_eq!(
        listed(&house).await,
        exposed,
        "the list differs when discovered again"
    );
    eprintln!(
        "{} servers, {} tools exposed, {} under another name than their own ({called} of them called); {} cannot be called: {unusable:#?}",
        servers.len(),
        exposed.len(),
        renamed.len(),
        unusable.len()
    );
}

/// Compares what is exposed with what was recorded; the tools that are not exposed under their own names.
fn compare<'a>(recorded: &'a [Recorded], exposed: &'a [Definition]) -> Vec<(&'a Definition, &'a Definition)> {
    let names: BTreeSet<&str> = exposed.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), exposed.len(), "names are not unique");
    let legal = |name: &str| {
        let mut bytes = name.bytes();
        name.len() <= LONGEST
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    let wrong: Vec<&&str> = names.iter().filter(|name| !legal(name)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");

    // A namespace cannot contain an underscore, so this cut is safe; the product looks names up.
    let mut of: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
    for tool in exposed {
        of.entry(tool.name.split_once("__").unwrap().0)
            .or_default()
            .push(tool);
    }
    let mut renamed = Vec::new();
    for Recorded { namespace, tools, .. } in recorded {
        let mut exposed = of.remove(namespace.as_str()).unwrap_or_default();
        for tool in tools {
            let full = format!("{namespace}__{}", tool.name);
            let plain: String = full.chars().map(legible).collect();
            let fits = |seen: &&Definition| match legal(&plain) {
                true => seen.name == plain,
                false => cut(&seen.name) && plain.starts_with(seen.name.rsplit_once('_').unwrap().0),
            };
            let at = exposed
                .iter()
                .position(|seen| seen.rest == tool.rest && fits(seen));
            let seen =
                exposed.remove(at.unwrap_or_else(|| panic!("{full} is not exposed as it was recorded")));
            if seen.name != full {
                renamed.push((tool, seen));
            }
        }
        assert!(
            exposed.is_empty(),
            "{namespace} lists more than its server: {exposed:?}"
        );
    }
    assert!(of.is_empty(), "{:?}", of.keys());
    renamed
}

/// What stands for a character in an exposed name.
fn legible(character: char) -> char {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    }
}

/// Whether a name ends in `_` and 8 hex digits.
fn cut(name: &str) -> bool {
    name.rsplit_once('_')
        .is_some_and(|(_, digits)| digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Calls every renamed tool that needs no arguments: each has to reach its own server under its own name.
async fn call(house: &House, renamed: &[(&Definition, &Definition)]) -> usize {
    let mut called = 0;
    for (tool, exposed) in renamed.iter().filter(|(tool, _)| !tool.demanding) {
        let body = post(
            house,
            "tools/call",
            json!({ "name": exposed.name, "arguments": {} }),
        )
        .await;
        let answer: Value = serde_json::from_slice(&body).unwrap();
        let text = &answer["result"]["content"][0]["text"];
        assert_eq!(
            *text,
            format!("called {}", tool.name),
            "{}: {answer}",
            exposed.name
        );
        called += 1;
    }
    called
}
