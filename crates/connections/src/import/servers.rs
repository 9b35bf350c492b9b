//! Where the servers stand in a file, and going through them one by one.

use serde_json::{Map, Value};

use super::compose::Composer;
use super::dialect::Dialect;
use super::draft::{Draft, Drafts};
use super::fields::Fields;
use super::format::kind;
use super::manner::Manner;
use super::notice::{Path, printable};
use super::server;

/// The servers of a file.
pub(super) enum Found<'a> {
    /// Under a key.
    Keyed(&'a Value, Path),
    /// The root is the map of servers.
    Bare(Path),
    /// The root is one server.
    Single,
}

/// Finds the servers: under the dialect's key, under another client's (and says so), or without any key.
pub(super) fn locate<'a>(
    dialect: Dialect,
    root: &'a Map<String, Value>,
    drafts: &mut Drafts,
) -> Option<Found<'a>> {
    let own = own_key(dialect);
    if let Some((value, path)) = follow(root, own) {
        return Some(Found::Keyed(value, path));
    }
    for key in OTHER_KEYS.iter().filter(|key| **key != own) {
        if let Some((value, path)) = follow(root, key) {
            let text = format!(
                "servers stand under {}, not under {}; the client may not see them, the import took them",
                key.join("."),
                own.join(".")
            );
            drafts.report.add("file.root", &path, text);
            return Some(Found::Keyed(value, path));
        }
    }
    if ["command", "url", "serverUrl", "httpUrl"]
        .iter()
        .any(|key| root.get(*key).is_some_and(|v| !v.is_object()))
    {
        return Some(Found::Single);
    }
    is_bare(root).then(|| Found::Bare(Path::default()))
}

/// Calls `read` for each server that is an object; the others become entries with nothing to launch.
pub(super) fn each(
    servers: &Value,
    path: &Path,
    drafts: &mut Drafts,
    mut read: impl FnMut(&Map<String, Value>, &mut Draft),
) {
    match servers {
        Value::Object(map) => {
            for (name, value) in map {
                drafts.push(one(name, value, path.child(name), &mut read));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let named = ["name", "uses", "id"]
                    .iter()
                    .find_map(|key| item.get(key).and_then(Value::as_str));
                let name = named.map_or_else(|| format!("server {}", index + 1), str::to_owned);
                drafts.push(one(&name, item, path.item(index), &mut read));
            }
        }
        other => {
            let text = format!(
                "servers must be an object, not {}; nothing was taken",
                kind(other)
            );
            drafts.report.add("field.wrong-type", path, text);
        }
    }
}

/// Reads one server written as an object, its transport perhaps in a layer of its own.
pub(super) fn read_map(map: &Map<String, Value>, manner: &Manner, composer: Composer<'_>, draft: &mut Draft) {
    read_with(map, manner, composer, draft, |_, _| {});
}

/// As [`read_map`], with the dialect's own fields taken first.
pub(super) fn read_with(
    map: &Map<String, Value>,
    manner: &Manner,
    composer: Composer<'_>,
    draft: &mut Draft,
    own: impl FnOnce(&mut Fields<'_>, &mut Draft),
) {
    let flat = server::hoist(map, "transport", &[]);
    if flat.is_some() {
        draft.note(
            "transport.nested",
            "transport is an object here; its fields were read as the entry's own",
        );
    }
    let mut fields = Fields::new(flat.as_ref().unwrap_or(map), manner.aliases, draft.path.clone());
    own(&mut fields, draft);
    server::read(&mut fields, manner, composer, draft);
}

/// Names the keys of the root that were not looked at.
pub(super) fn other_keys(root: &Map<String, Value>, read: &[&str], drafts: &mut Drafts) {
    let others: Vec<String> = root
        .keys()
        .filter(|key| !read.contains(&key.as_str()))
        .map(|key| printable(key, 40))
        .collect();
    if others.is_empty() {
        return;
    }
    let shown = others.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
    let more = if others.len() > 20 { " and more" } else { "" };
    drafts.note(
        "file.other-keys",
        format!(
            "{} keys beside the servers were not read: {shown}{more}",
            others.len()
        ),
    );
}

pub(super) fn own_key(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::VsCode => &["servers"],
        Dialect::VsCodeSettings | Dialect::OpenCodeV2 => &["mcp", "servers"],
        Dialect::OpenCodeV1 => &["mcp"],
        Dialect::Zed => &["context_servers"],
        Dialect::Codex => &["mcp_servers"],
        Dialect::Goose => &["extensions"],
        Dialect::ClaudeDesktop
        | Dialect::ClaudeCode
        | Dialect::ClaudeCodeUser
        | Dialect::ClaudeCodePlugin
        | Dialect::Cursor
        | Dialect::CopilotCli
        | Dialect::Windsurf
        | Dialect::Antigravity
        | Dialect::Cline
        | Dialect::Roo
        | Dialect::Continue
        | Dialect::Gemini
        | Dialect::Junie
        | Dialect::JetBrains
        | Dialect::LmStudio
        | Dialect::InstallLink
        | Dialect::Generic => &["mcpServers"],
    }
}

const OTHER_KEYS: &[&[&str]] = &[
    &["mcpServers"],
    &["servers"],
    &["mcp", "servers"],
    &["mcp", "mcpServers"],
    &["context_servers"],
    &["mcp_servers"],
    &["experimental", "modelContextProtocolServers"],
];

fn follow<'a>(root: &'a Map<String, Value>, keys: &[&str]) -> Option<(&'a Value, Path)> {
    let (first, rest) = keys.split_first()?;
    let mut value = root.get(*first)?;
    let mut path = Path::default().child(first);
    for key in rest {
        value = value.as_object()?.get(*key)?;
        path = path.child(key);
    }
    (!value.is_null()).then_some((value, path))
}

/// A map of servers without a key over it: at least one value is an object with an address or a command.
pub(super) fn is_bare(root: &Map<String, Value>) -> bool {
    root.values().filter_map(Value::as_object).any(is_server)
}

pub(super) fn is_server(map: &Map<String, Value>) -> bool {
    ["command", "url", "serverUrl", "httpUrl"]
        .iter()
        .any(|key| map.contains_key(*key))
}

fn one(
    name: &str,
    value: &Value,
    path: Path,
    read: &mut impl FnMut(&Map<String, Value>, &mut Draft),
) -> Draft {
    let mut draft = Draft::new(name, path);
    match value {
        Value::Object(map) => read(map, &mut draft),
        Value::Null => draft.note("launch.nothing", "the entry is null: nothing to launch"),
        other => {
            draft.note(
                "entry.not-an-object",
                format!(
                    "an entry must be an object, not {}: nothing to launch",
                    kind(other)
                ),
            );
        }
    }
    draft
}
