//! goose: extensions, of which only some are MCP servers.

use serde_json::{Map, Value};

use crate::import::compose::Composer;
use crate::import::dialect::Dialect;
use crate::import::draft::{Draft, Drafts};
use crate::import::fields::Fields;
use crate::import::launch::Launch;
use crate::import::manner;
use crate::import::notice::printable;
use crate::import::servers;
use crate::import::settings;
use crate::import::syntax::Syntax;

pub(super) fn read(root: &Map<String, Value>, drafts: &mut Drafts) {
    super::found(Dialect::Goose, root, drafts, &[], one);
}

/// One extension.
pub(in crate::import) fn one(map: &Map<String, Value>, draft: &mut Draft) {
    let manner = manner::of(Dialect::Goose);
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    if !kind.is_empty() && !matches!(kind, "stdio" | "sse" | "streamable_http" | "http") {
        let mut fields = Fields::new(map, manner.aliases, draft.path.clone());
        settings::read(&mut fields, &manner, draft);
        draft.note(
            "launch.not-mcp",
            format!(
                "{} is a kind of extension of its client, not an MCP server",
                printable(kind, 40)
            ),
        );
        return;
    }
    let mut keyring = Vec::new();
    if let Some(names) = map.get("env_keys").and_then(Value::as_array) {
        keyring.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
    }
    // Variables are put into headers only.
    let syntax = if map.contains_key("uri") {
        manner.syntax
    } else {
        Syntax::NONE
    };
    let composer = Composer {
        syntax,
        keyring: &keyring,
    };
    servers::read_with(map, &manner, composer, draft, |fields, draft| {
        fields.texts("env_keys", &mut draft.notices);
        // An empty list lets all tools through.
        let tools = fields.texts("available_tools", &mut draft.notices);
        draft.tools.allow = tools.filter(|list| !list.is_empty());
        if fields
            .text("name", &mut draft.notices)
            .is_some_and(|name| name != draft.name)
        {
            draft.note(
                "field.not-carried",
                "name differs from the extension's key; the key was taken",
            );
        }
    });
    if let Launch::Command(command) = &mut draft.launch {
        keyring.retain(|name| !command.env.contains_key(name));
        command.secret_env = keyring;
    }
}
