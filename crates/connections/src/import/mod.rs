//! Reads the configuration files of MCP clients: bytes in, entries and a report out. Nothing is run, nothing else is read.
//!
//! Every dialect becomes the same [`Entry`]: how to launch, what is secret, what is filtered, what the client would do that we do
//! not. Whatever was not taken over is a [`Notice`]; one bad entry never loses the others. Secrets that stand in the file are
//! wrapped at once and can be moved to the vault with [`Entry::take_secrets`].

mod bridge;
mod codes;
mod command;
mod compose;
mod detect;
mod dialect;
mod dialects;
mod draft;
mod error;
mod fields;
mod format;
mod launch;
mod link;
mod manner;
mod model;
mod notice;
mod oauth;
mod remainder;
mod remarks;
mod remote;
mod secrets;
mod server;
mod servers;
mod settings;
mod syntax;
mod template;

pub use codes::CODES;
pub use dialect::{Dialect, UnknownDialect};
pub use error::ImportError;
pub use format::Format;
pub use launch::{Command, Launch, OAuth, OAuthClient, Remote, Transport};
pub use model::{
    AutoApproval, Entry, Import, Input, InputKind, ProjectServers, Timeouts, ToolFilter, Variable,
};
pub use notice::Notice;
pub use secrets::{holds_secret, names_secret};
pub use template::{Fallback, FoundSecret, Part, Reference, ReferenceKind, Template};

use serde_json::{Map, Value};

use draft::Drafts;
use notice::Path;

/// Reads YAML that is an object, within the bounds of files. A key that occurs twice is an error, said in words.
pub(crate) fn read_yaml(text: &str) -> Result<Map<String, Value>, String> {
    let tree = format::tree(text, Format::Yaml).map_err(|error| error.to_string())?;
    match tree.duplicates.first() {
        Some(twice) => Err(format!("{:?} occurs twice", twice.join("."))),
        None => Ok(tree.root),
    }
}

/// Largest file, in bytes.
pub const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
/// Deepest nesting of objects and lists.
pub const MAX_DEPTH: usize = 64;
/// Most values in a file, repetitions by YAML aliases counted.
pub const MAX_VALUES: usize = 200_000;
/// Most entries taken from one file.
pub const MAX_ENTRIES: usize = 1_000;
/// Longest name of an entry, in characters; longer ones are cut.
pub const MAX_NAME_CHARS: usize = 200;

/// A file to import.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name, with its folder where that is known: `~/.cursor/mcp.json` says more than `mcp.json`.
    pub file_name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// The dialect, if a person said it; else it is recognised.
    pub dialect: Option<Dialect>,
}

/// Reads a client's configuration.
///
/// # Errors
/// When the file as a whole cannot be read: too large, not UTF-8, broken syntax, nested too deep. Everything smaller is a notice.
pub fn parse(source: &Source<'_>) -> Result<Import, ImportError> {
    let found = format::text(source.bytes)?;
    let text = found.text;
    let mut drafts = Drafts::default();
    if found.had_bom {
        drafts.note("file.bom", "the file starts with a byte order mark; skipped");
    }
    let dialect = if source.dialect == Some(Dialect::InstallLink)
        || (source.dialect.is_none() && link::is_links(text))
    {
        link::read(text, &mut drafts);
        Dialect::InstallLink
    } else {
        let format = detect::format(source.file_name, text, source.dialect);
        let tree = format::tree(text, format)?;
        let dialect = source
            .dialect
            .unwrap_or_else(|| detect::dialect(source.file_name, format, &tree.root));
        dialects::read(dialect, &tree.root, &mut drafts);
        report_duplicates(&tree.duplicates, &mut drafts);
        dialect
    };
    let (entries, inputs, project_servers, report) = drafts.finish();
    Ok(Import {
        dialect,
        entries,
        inputs,
        project_servers,
        report,
    })
}

impl Entry {
    /// Moves every literal secret out of the entry; each place then refers to the vault by the name given here.
    pub fn take_secrets(&mut self) -> Vec<FoundSecret> {
        let mut found = Vec::new();
        for (place, template) in self.launch.templates_mut() {
            let base = format!("{}/{place}", self.slug.as_str());
            let mut number = 0;
            let taken = template.take_secrets(|| {
                number += 1;
                if number == 1 {
                    base.clone()
                } else {
                    format!("{base}/{number}")
                }
            });
            found.extend(taken.into_iter().map(|(name, value)| FoundSecret {
                name,
                place: place.clone(),
                value,
            }));
        }
        found
    }

    /// Whether a secret still stands in clear in the entry.
    #[must_use]
    pub fn holds_secrets(&self) -> bool {
        self.launch
            .templates()
            .iter()
            .any(|(_, template)| template.holds_secret())
    }
}

/// Each key that stands twice is told where it is: with its entry, else with the file.
fn report_duplicates(duplicates: &[Vec<String>], drafts: &mut Drafts) {
    for keys in duplicates {
        let path = keys.iter().fold(Path::default(), |path, key| path.child(key));
        let text = "this key stands twice; the last one was taken, as most clients do: remove one";
        match drafts.entries.iter_mut().find(|draft| draft.path.covers(&path)) {
            Some(draft) => draft.notices.add("file.duplicate-key", &path, text),
            None => drafts.report.add("file.duplicate-key", &path, text),
        }
    }
}
