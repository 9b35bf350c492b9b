//! The dialects, one file per family. What they share is in `server`.

mod claude_code;
mod codex;
mod continue_dev;
mod gemini;
pub(super) mod goose;
mod opencode;
mod vscode;
mod zed;

use serde_json::{Map, Value};

use super::compose::Composer;
use super::dialect::Dialect;
use super::draft::{Draft, Drafts};
use super::manner;
use super::notice::Path;
use super::servers::{self, Found};

/// Reads all servers of a parsed file.
pub(super) fn read(dialect: Dialect, root: &Map<String, Value>, drafts: &mut Drafts) {
    match dialect {
        Dialect::ClaudeCodeUser => claude_code::read_user(root, drafts),
        Dialect::VsCode | Dialect::VsCodeSettings => vscode::read(dialect, root, drafts),
        Dialect::Zed => zed::read(root, drafts),
        Dialect::Continue => continue_dev::read(root, drafts),
        Dialect::Goose => goose::read(root, drafts),
        Dialect::Codex => codex::read(root, drafts),
        Dialect::Gemini => gemini::read(root, drafts),
        Dialect::OpenCodeV1 | Dialect::OpenCodeV2 => opencode::read(dialect, root, drafts),
        Dialect::ClaudeDesktop
        | Dialect::ClaudeCode
        | Dialect::ClaudeCodePlugin
        | Dialect::Cursor
        | Dialect::CopilotCli
        | Dialect::Windsurf
        | Dialect::Antigravity
        | Dialect::Cline
        | Dialect::Roo
        | Dialect::Junie
        | Dialect::JetBrains
        | Dialect::LmStudio
        | Dialect::InstallLink
        | Dialect::Generic => {
            let manner = manner::of(dialect);
            let composer = Composer {
                syntax: manner.syntax,
                keyring: &[],
            };
            found(dialect, root, drafts, &[], |map, draft| {
                servers::read_map(map, &manner, composer, draft)
            });
        }
    }
}

/// Goes through the servers wherever they stand, and names the other keys of the root.
fn found(
    dialect: Dialect,
    root: &Map<String, Value>,
    drafts: &mut Drafts,
    also_read: &[&str],
    mut read: impl FnMut(&Map<String, Value>, &mut Draft),
) {
    match servers::locate(dialect, root, drafts) {
        Some(Found::Keyed(value, path)) => {
            servers::each(value, &path, drafts, read);
            let key = path.first();
            let mut known = vec![key.as_str(), "$schema"];
            known.extend(also_read);
            servers::other_keys(root, &known, drafts);
        }
        Some(Found::Bare(path)) => {
            let (servers, others): (Map<_, _>, Map<_, _>) = root
                .clone()
                .into_iter()
                .partition(|(_, value)| value.is_object() || value.is_null());
            servers::each(&Value::Object(servers), &path, drafts, read);
            servers::other_keys(&others, &["$schema"], drafts);
        }
        Some(Found::Single) => {
            let name = root.get("name").and_then(Value::as_str).unwrap_or("server");
            let mut draft = Draft::new(name, Path::default());
            read(root, &mut draft);
            drafts.push(draft);
        }
        None => servers::other_keys(root, &["$schema"], drafts),
    }
}
