//! Which dialect a file is: its name and folder say most, its keys the rest.

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::format::Format;
use super::servers::is_server;

/// The format of a file by its ending, else by its first characters.
pub(super) fn format(file_name: &str, text: &str, dialect: Option<Dialect>) -> Format {
    let name = file_name.to_lowercase();
    let start = text.trim_start();
    let looks_like_json = start.starts_with(['{', '[']) || start.starts_with("//") || start.starts_with("/*");
    match dialect {
        Some(Dialect::Codex) => return Format::Toml,
        Some(Dialect::Goose | Dialect::Continue) if !looks_like_json => return Format::Yaml,
        _ => {}
    }
    if name.ends_with(".toml") {
        Format::Toml
    } else if name.ends_with(".yaml") || name.ends_with(".yml") {
        Format::Yaml
    } else if name.ends_with(".json") || name.ends_with(".jsonc") || looks_like_json {
        Format::Json
    } else if text
        .lines()
        .any(|line| line.trim_start().starts_with("[mcp_servers"))
    {
        Format::Toml
    } else if text
        .lines()
        .any(|line| line.starts_with("extensions:") || line.starts_with("mcpServers:"))
    {
        Format::Yaml
    } else {
        Format::Json
    }
}

/// The dialect of a parsed file.
pub(super) fn dialect(file_name: &str, format: Format, root: &Map<String, Value>) -> Dialect {
    let named = by_name(file_name);
    match (format, named) {
        (Format::Toml, _) => Dialect::Codex,
        (Format::Yaml, _) if root.contains_key("extensions") && !root.contains_key("mcpServers") => {
            Dialect::Goose
        }
        (Format::Yaml, _) => Dialect::Continue,
        (Format::Json, Some(dialect)) => refine(dialect, root),
        (Format::Json, None) => by_keys(root),
    }
}

/// Names and folders, the most telling first. Slashes stand around the path, so that `/.cursor/` is a folder and `/cursor.` a start.
const NAMES: &[(&str, Dialect)] = &[
    ("claude_desktop_config.json/", Dialect::ClaudeDesktop),
    ("/.claude.json/", Dialect::ClaudeCodeUser),
    (".dot-claude.json/", Dialect::ClaudeCodeUser),
    ("/claude-code-plugin.", Dialect::ClaudeCodePlugin),
    ("/.claude/plugins/", Dialect::ClaudeCodePlugin),
    ("/.claude-plugin/", Dialect::ClaudeCodePlugin),
    ("/claude-code.", Dialect::ClaudeCode),
    ("cline_mcp_settings.json/", Dialect::Cline),
    ("saoudrizwan.claude-dev", Dialect::Cline),
    ("/.cline/", Dialect::Cline),
    ("/.roo/", Dialect::Roo),
    ("/.kilocode/", Dialect::Roo),
    ("/.kilo/", Dialect::Roo),
    ("mcp_settings.json/", Dialect::Roo),
    ("/.copilot/", Dialect::CopilotCli),
    ("mcp-config.json/", Dialect::CopilotCli),
    ("/antigravity", Dialect::Antigravity),
    ("/.gemini/config/mcp_config.json/", Dialect::Antigravity),
    ("/.gemini/", Dialect::Gemini),
    ("/gemini-cli.", Dialect::Gemini),
    ("/gemini.", Dialect::Gemini),
    ("/.codeium/", Dialect::Windsurf),
    ("/windsurf", Dialect::Windsurf),
    ("mcp_config.json/", Dialect::Windsurf),
    ("/.cursor/", Dialect::Cursor),
    ("/cursor.", Dialect::Cursor),
    ("/.vscode/", Dialect::VsCode),
    ("/code/user/", Dialect::VsCode),
    ("/vscode.", Dialect::VsCode),
    ("/zed/", Dialect::Zed),
    ("/.zed/", Dialect::Zed),
    ("/zed.", Dialect::Zed),
    ("/opencode", Dialect::OpenCodeV1),
    ("/.junie/", Dialect::Junie),
    ("/junie.", Dialect::Junie),
    ("/jetbrains", Dialect::JetBrains),
    ("/.lmstudio/", Dialect::LmStudio),
    ("/lm-studio", Dialect::LmStudio),
    ("/lmstudio", Dialect::LmStudio),
    ("/.mcp.json/", Dialect::ClaudeCode),
];

fn by_name(file_name: &str) -> Option<Dialect> {
    let path = format!("/{}/", file_name.to_lowercase().replace('\\', "/"));
    NAMES
        .iter()
        .find(|(mark, _)| path.contains(mark))
        .map(|(_, dialect)| *dialect)
}

/// Tells the variants of one client apart, and catches files that only lie in its folder.
fn refine(named: Dialect, root: &Map<String, Value>) -> Dialect {
    let settings = root.get("mcp").is_some_and(Value::is_object);
    match named {
        Dialect::ClaudeCode if root.contains_key("mcpServers") => Dialect::ClaudeCode,
        Dialect::ClaudeCode => Dialect::ClaudeCodePlugin,
        Dialect::VsCode if settings && !root.contains_key("servers") => Dialect::VsCodeSettings,
        Dialect::OpenCodeV1 if is_second_opencode(root) => Dialect::OpenCodeV2,
        other => other,
    }
}

fn by_keys(root: &Map<String, Value>) -> Dialect {
    let has = |key: &str| root.get(key).is_some_and(Value::is_object);
    let servers = root.get("mcpServers").and_then(Value::as_object);
    let any_server =
        |key: &str| servers.is_some_and(|map| map.values().any(|server| server.get(key).is_some()));
    let schema = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
    if has("context_servers") {
        Dialect::Zed
    } else if has("servers") {
        Dialect::VsCode
    } else if has("mcp_servers") {
        Dialect::Codex
    } else if servers.is_some() && has("projects") {
        Dialect::ClaudeCodeUser
    } else if any_server("httpUrl") || (servers.is_some() && has("mcp")) {
        Dialect::Gemini
    } else if any_server("serverUrl") {
        Dialect::Windsurf
    } else if any_server("autoApprove") || any_server("alwaysAllow") {
        Dialect::Cline
    } else if has("mcp") && (schema.contains("opencode") || is_opencode(root)) {
        if is_second_opencode(root) {
            Dialect::OpenCodeV2
        } else {
            Dialect::OpenCodeV1
        }
    } else if has("mcp") {
        Dialect::VsCodeSettings
    } else if has("extensions") {
        Dialect::Goose
    } else if root.get("mcpServers").is_some_and(Value::is_array) {
        Dialect::Continue
    } else {
        Dialect::Generic
    }
}

/// Only opencode writes `local` and `remote`, or a command as a list.
fn is_opencode(root: &Map<String, Value>) -> bool {
    let mcp = root.get("mcp").and_then(Value::as_object);
    let inner = mcp.and_then(|mcp| mcp.get("servers")).and_then(Value::as_object);
    mcp.into_iter().chain(inner).flat_map(Map::values).any(|server| {
        matches!(
            server.get("type").and_then(Value::as_str),
            Some("local" | "remote")
        ) || server.get("command").is_some_and(Value::is_array)
    })
}

fn is_second_opencode(root: &Map<String, Value>) -> bool {
    let servers = root
        .get("mcp")
        .and_then(|mcp| mcp.get("servers"))
        .and_then(Value::as_object);
    // A server of the first version may be called "servers".
    servers.is_some_and(|map| !is_server(map) && map.values().all(Value::is_object))
}
