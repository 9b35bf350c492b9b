//! One server of the registry: who published it, where it is, and how one proves oneself there.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use super::template;

/// Longest short text kept (names, versions, ids), in characters.
const SHORT: usize = 200;
/// Longest description kept, in characters.
const LONG: usize = 500;
/// Remotes, packages and headers kept of one server, each.
const MANY: usize = 30;
/// Where the registry says what it knows about an entry.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";

/// A server as the registry lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name: a namespace, a slash, a name.
    pub name: String,
    /// What it calls itself.
    pub title: Option<String>,
    /// What it says it does.
    pub description: String,
    /// Its version.
    pub version: String,
    /// `active` or `deprecated`.
    pub status: String,
    /// Why, where it is deprecated.
    pub status_message: Option<String>,
    /// Who published it, as far as the registry had it proven.
    pub ownership: Ownership,
    /// Where to read about it.
    pub website: Option<String>,
    /// Its source.
    pub repository: Option<String>,
    /// An icon, over HTTPS.
    pub icon: Option<String>,
    /// Where it can be reached.
    pub remotes: Vec<Remote>,
    /// What can be installed.
    pub packages: Vec<Package>,
    /// The registry says that there is a newer version.
    pub(super) superseded: bool,
}

/// What the registry had proven of a publisher. A name proves its namespace and nothing else: whoever holds it may publish a server for
/// anybody's product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// Control of a domain.
    Domain(String),
    /// Control of an account at GitHub.
    Github(String),
    /// Nothing that is known here.
    Unproven(String),
}

/// An address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// `streamable-http` or `sse`, as listed.
    pub transport: String,
    /// Its URL, as listed; may hold places to fill in.
    pub url: String,
    /// How one proves oneself.
    pub auth: Auth,
    /// Names of things to be asked for before it can be connected: places in the URL, further headers.
    pub asks_for: Vec<String>,
    /// Why it cannot be connected as it is; none where it can.
    pub hindrance: Option<&'static str>,
}

/// How one proves oneself at an address, as far as the entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// The entry names no credential: there is none, or one signs in.
    Unknown,
    /// `Authorization: Bearer …`.
    Bearer,
    /// A header.
    Header {
        /// Its name.
        name: String,
        /// What stands before the secret.
        prefix: String,
    },
}

/// Something to be installed. Nothing of it is ever run from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb` …
    pub registry_type: String,
    /// What is to be installed.
    pub identifier: String,
    /// Its version, where it is not part of the identifier.
    pub version: Option<String>,
    /// How it is spoken to: `stdio`, `streamable-http`, `sse`.
    pub transport: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    server: Option<&'a RawValue>,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

#[derive(Deserialize)]
struct Server {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    version: String,
    #[serde(default, rename = "websiteUrl")]
    website: Option<String>,
    #[serde(default)]
    repository: Value,
    #[serde(default)]
    icons: Value,
    #[serde(default)]
    remotes: Value,
    #[serde(default)]
    packages: Value,
}

/// Reads an entry; none where it is no server.
pub(super) fn listed(raw: &RawValue) -> Option<Listed> {
    let envelope: Envelope<'_> = serde_json::from_str(raw.get()).ok()?;
    // Before v0.1 the server itself stood in the list.
    let server = envelope.server.unwrap_or(raw);
    let server: Server = serde_json::from_str(server.get()).ok()?;
    let ownership = ownership(&server.name)?;
    let official = envelope.meta.get(OFFICIAL);
    let word = |key: &str| {
        let found = official.and_then(|official| official.get(key));
        found.and_then(Value::as_str).map(|text| cut(text, SHORT))
    };
    let latest = official.and_then(|official| official.get("isLatest"));
    let https = |text: &str| Url::parse(text).is_ok_and(|url| url.scheme() == "https");
    let icons = server.icons.as_array().into_iter().flatten();
    let icon = icons
        .filter_map(|icon| icon.get("src")?.as_str())
        .find(|src| src.len() <= 2048 && https(src));
    let repository = server.repository.get("url").and_then(Value::as_str);
    Some(Listed {
        name: server.name,
        title: server.title.map(|title| cut(&title, SHORT)),
        description: cut(&server.description, LONG),
        version: cut(&server.version, SHORT),
        status: word("status").unwrap_or_else(|| "active".to_owned()),
        status_message: word("statusMessage"),
        ownership,
        website: server.website.filter(|website| https(website)),
        repository: repository.filter(|url| https(url)).map(str::to_owned),
        icon: icon.map(str::to_owned),
        remotes: items(&server.remotes).filter_map(remote).collect(),
        packages: items(&server.packages).filter_map(package).collect(),
        superseded: latest.and_then(Value::as_bool) == Some(false),
    })
}

/// What a name proves. Exactly one slash, and only the characters the registry allows; a name that was never filled in is none.
fn ownership(name: &str) -> Option<Ownership> {
    let (namespace, rest) = name.split_once('/')?;
    let legal = |text: &str, more: &[char]| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(&c))
    };
    if name.chars().count() > SHORT || !legal(namespace, &['.', '-']) || !legal(rest, &['.', '-', '_']) {
        return None;
    }
    if let Some(account) = namespace.strip_prefix("io.github.") {
        return Some(Ownership::Github(account.to_owned()));
    }
    let mut labels: Vec<&str> = namespace.split('.').collect();
    labels.reverse();
    let domain = labels.join(".");
    Some(if labels.len() > 1 && !labels.contains(&"") {
        Ownership::Domain(domain)
    } else {
        Ownership::Unproven(namespace.to_owned())
    })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten().take(MANY)
}

fn remote(item: &Value) -> Option<Remote> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let (transport, url) = (text("type")?, text("url")?);
    if url.len() > 2048 {
        return None;
    }
    let mut asks_for = template::places(url);
    let mut auth = Auth::Unknown;
    for header in items(item.get("headers").unwrap_or(&Value::Null)) {
        let Some(name) = header.get("name").and_then(Value::as_str) else {
            continue;
        };
        let template = header.get("value").and_then(Value::as_str);
        match credential(header, name, template) {
            Some(found) if auth == Auth::Unknown => auth = found,
            Some(_) => asks_for.push(cut(name, SHORT)),
            None if template.is_none_or(|text| !template::places(text).is_empty()) => {
                asks_for.push(cut(name, SHORT));
            }
            None => {}
        }
    }
    Some(Remote {
        transport: cut(transport, SHORT),
        hindrance: hindrance(transport, url),
        url: url.to_owned(),
        auth,
        asks_for,
    })
}

/// How a header proves one; none where it carries no secret.
fn credential(header: &Value, name: &str, template: Option<&str>) -> Option<Auth> {
    let secret = |value: &Value| value.get("isSecret").and_then(Value::as_bool) == Some(true);
    let variables = header.get("variables").and_then(Value::as_object);
    let is_secret = secret(header)
        || variables.is_some_and(|variables| variables.values().any(secret))
        || name.eq_ignore_ascii_case("authorization");
    if !is_secret {
        return None;
    }
    // What stands before the first place is part of the value and not of the secret.
    let prefix = template.map_or("", template::before);
    let is_bearer = name.eq_ignore_ascii_case("authorization")
        && (template.is_none() || prefix.trim().eq_ignore_ascii_case("bearer"));
    Some(if is_bearer {
        Auth::Bearer
    } else {
        Auth::Header {
            name: cut(name, SHORT),
            prefix: cut(prefix, SHORT),
        }
    })
}

/// Why an address cannot be connected as it is listed.
fn hindrance(transport: &str, url: &str) -> Option<&'static str> {
    if !template::places(url).is_empty() {
        return Some("its address has places to fill in");
    }
    match (transport, Url::parse(url)) {
        ("streamable-http" | "sse", Ok(url)) if url.scheme() == "https" => None,
        ("streamable-http" | "sse", Ok(_)) => Some("its address is not public HTTPS"),
        ("streamable-http" | "sse", Err(_)) => Some("its address is no URL"),
        (_, _) => Some("its transport is not known here"),
    }
}

fn package(item: &Value) -> Option<Package> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let transport = item.get("transport").and_then(|transport| transport.get("type"));
    Some(Package {
        registry_type: cut(text("registryType").or(text("registry_type"))?, SHORT),
        identifier: cut(text("identifier")?, LONG),
        version: text("version").map(|version| cut(version, SHORT)),
        transport: cut(transport.and_then(Value::as_str).unwrap_or("stdio"), SHORT),
    })
}

/// One line without control characters, cut.
fn cut(text: &str, most: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(most).map(plain).collect()
}
