//! Install links: one server each, packed into a url.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::compose::Composer;
use super::dialect::Dialect;
use super::dialects::goose;
use super::draft::{Draft, Drafts};
use super::format::{self, Format};
use super::manner;
use super::notice::Path;
use super::servers;

/// Whether a text is a list of install links: its first line that is no comment is one.
pub(super) fn is_links(text: &str) -> bool {
    lines(text).next().is_some_and(|(_, line)| client(line).is_some())
}

/// Reads one link a line.
pub(super) fn read(text: &str, drafts: &mut Drafts) {
    for (index, line) in lines(text) {
        let path = Path::default().item(index);
        let taken = client(line).map(|client| one(client, line, &path, drafts));
        if taken.flatten().is_none() {
            let text = format!(
                "line {} is no install link that can be read; not taken over",
                index + 1
            );
            drafts.report.add("link.invalid", &path, text);
        }
    }
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let trimmed = text.lines().map(str::trim).enumerate();
    trimmed.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn client(link: &str) -> Option<Dialect> {
    let lower: String = link.chars().take(64).collect::<String>().to_ascii_lowercase();
    let known = [
        ("cursor://", Dialect::Cursor),
        ("https://cursor.com/", Dialect::Cursor),
        ("lmstudio://", Dialect::LmStudio),
        ("https://lmstudio.ai/install-mcp", Dialect::LmStudio),
        ("vscode:", Dialect::VsCode),
        ("vscode-insiders:", Dialect::VsCode),
        ("https://vscode.dev/redirect", Dialect::VsCode),
        ("https://insiders.vscode.dev/redirect", Dialect::VsCode),
        ("goose://", Dialect::Goose),
    ];
    known
        .into_iter()
        .find(|(start, _)| lower.starts_with(start))
        .map(|(_, client)| client)
}

fn one(client: Dialect, link: &str, path: &Path, drafts: &mut Drafts) -> Option<()> {
    let (_, query) = link.split_once('?')?;
    if client == Dialect::Goose {
        return goose_link(query, path, drafts);
    }
    if client == Dialect::VsCode && link.starts_with("https://") {
        // The redirecting page carries the whole link, or name and configuration apart.
        if let Some(inner) = parameter(query, "url") {
            return inner
                .starts_with("vscode")
                .then(|| one(client, &inner, path, drafts))
                .flatten();
        }
    }
    let config = match parameter(query, "config") {
        Some(config) => unpack(&config)?,
        None => percent_decode_str(query).decode_utf8().ok()?.into_owned(),
    };
    let tree = format::tree(&config, Format::Json).ok()?;
    let name = parameter(query, "name").map(|name| name.replace('+', " "));
    let name = name.or_else(|| tree.root.get("name").and_then(Value::as_str).map(str::to_owned));
    take(
        client,
        name.as_deref().unwrap_or("server"),
        tree.root,
        path,
        drafts,
    );
    Some(())
}

fn take(client: Dialect, name: &str, mut root: Map<String, Value>, path: &Path, drafts: &mut Drafts) {
    let manner = manner::of(client);
    let composer = Composer {
        syntax: manner.syntax,
        keyring: &[],
    };
    if let Some(servers) = root.get("mcpServers") {
        servers::each(servers, path, drafts, |map, draft| {
            servers::read_map(map, &manner, composer, draft)
        });
        return;
    }
    root.remove("name");
    let mut draft = Draft::new(name, path.clone());
    servers::read_map(&root, &manner, composer, &mut draft);
    drafts.push(draft);
}

fn goose_link(query: &str, path: &Path, drafts: &mut Drafts) -> Option<()> {
    let all = |wanted: &str| -> Vec<Value> { parameters(query, wanted).map(Value::String).collect() };
    let first = |wanted: &str| parameters(query, wanted).next();
    let name = first("name")
        .or_else(|| first("id"))
        .unwrap_or_else(|| "extension".to_owned());
    let env: Vec<String> = parameters(query, "env")
        .map(|pair| before_equals(&pair))
        .collect();
    let mut map = Map::new();
    if let Some(url) = first("url") {
        let kind = first("type").unwrap_or_else(|| "streamable_http".to_owned());
        map.insert("type".to_owned(), Value::String(kind));
        map.insert("uri".to_owned(), Value::String(url));
    } else {
        map.insert("type".to_owned(), json!("stdio"));
        map.insert("cmd".to_owned(), Value::String(first("cmd")?));
        map.insert("args".to_owned(), Value::Array(all("arg")));
    }
    if !env.is_empty() {
        map.insert("env_keys".to_owned(), json!(env));
    }
    let headers = parameters(query, "header").filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        Some((name.to_owned(), Value::String(value.to_owned())))
    });
    map.insert("headers".to_owned(), Value::Object(headers.collect()));
    if let Some(seconds) = first("timeout").and_then(|text| text.parse::<u64>().ok()) {
        map.insert("timeout".to_owned(), json!(seconds));
    }
    let mut draft = Draft::new(&name, path.clone());
    goose::one(&map, &mut draft);
    drafts.push(draft);
    Some(())
}

/// `NAME=what it is for` names a variable to be asked for.
fn before_equals(pair: &str) -> String {
    pair.split_once('=').map_or(pair, |(name, _)| name).to_owned()
}

/// base64 of JSON in either alphabet, padded or not; or the JSON itself.
fn unpack(config: &str) -> Option<String> {
    if config.trim_start().starts_with('{') {
        return Some(config.to_owned());
    }
    let plain: String = config
        .chars()
        .filter(|c| *c != '=')
        .map(|c| match c {
            // A space is a plus that some program took for a form's.
            '-' | ' ' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    let engine = GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
    String::from_utf8(engine.decode(plain).ok()?).ok()
}

fn parameter(query: &str, name: &str) -> Option<String> {
    raw_parameters(query, name).next()
}

/// Values of a parameter, with `+` for a space as forms write it.
fn parameters<'q>(query: &'q str, name: &'q str) -> impl Iterator<Item = String> + 'q {
    query.split('&').filter_map(move |pair| {
        let (key, value) = pair.split_once('=')?;
        (key == name).then(|| {
            percent_decode_str(&value.replace('+', " "))
                .decode_utf8_lossy()
                .into_owned()
        })
    })
}

/// As [`parameters`], but `+` is itself: it is a letter of base64.
fn raw_parameters<'q>(query: &'q str, name: &'q str) -> impl Iterator<Item = String> + 'q {
    query.split('&').filter_map(move |pair| {
        let (key, value) = pair.split_once('=')?;
        (key == name).then(|| percent_decode_str(value).decode_utf8_lossy().into_owned())
    })
}
