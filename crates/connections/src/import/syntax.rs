//! How each client writes references to values that are known only later.

use std::ops::Range;

use super::template::{Fallback, Reference, ReferenceKind};

/// Longest reference, which keeps the search for its end short.
const MAX_REFERENCE_BYTES: usize = 512;

/// The notations a client expands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Syntax {
    /// `${NAME}` and `${NAME:-default}` are variables of the environment.
    pub(super) brace: bool,
    /// `${env:NAME}`, `${input:ID}`, `${workspaceFolder}`.
    pub(super) prefixed: bool,
    /// `$NAME`.
    pub(super) dollar: bool,
    /// `${{ secrets.NAME }}` and `${{ inputs.NAME }}`.
    pub(super) double_brace: bool,
    /// `{env:NAME}` and `{file:PATH}`.
    pub(super) curly: bool,
}

impl Syntax {
    pub(super) const NONE: Self = Self {
        brace: false,
        prefixed: false,
        dollar: false,
        double_brace: false,
        curly: false,
    };
    pub(super) const BRACE: Self = Self {
        brace: true,
        ..Self::NONE
    };
    pub(super) const PREFIXED: Self = Self {
        prefixed: true,
        ..Self::NONE
    };
    pub(super) const SHELL: Self = Self {
        brace: true,
        dollar: true,
        ..Self::NONE
    };
    pub(super) const DOUBLE_BRACE: Self = Self {
        double_brace: true,
        ..Self::NONE
    };
    pub(super) const CURLY: Self = Self {
        curly: true,
        ..Self::NONE
    };
    pub(super) const ANY_BRACE: Self = Self {
        brace: true,
        prefixed: true,
        ..Self::NONE
    };

    /// The references in a text, in order, not overlapping.
    pub(super) fn references(self, text: &str) -> Vec<(Range<usize>, Reference)> {
        let mut found = Vec::new();
        let mut at = 0;
        // Without `$NAME` nothing can start behind the last brace.
        let last = if self.dollar {
            text.len()
        } else {
            text.rfind('}').unwrap_or(0)
        };
        while let Some(rest) = text.get(at..last) {
            let Some(offset) = rest.find(['$', '{']) else {
                break;
            };
            let start = at + offset;
            let Some(tail) = text.get(start..) else { break };
            if let Some((length, mut reference)) = self.reference(tail) {
                reference.written = tail.get(..length).map(str::to_owned);
                found.push((start..start + length, reference));
                at = start + length;
            } else {
                at = start + 1;
            }
        }
        found
    }

    /// The reference at the start of a text and its length in bytes.
    fn reference(self, text: &str) -> Option<(usize, Reference)> {
        if let Some(rest) = text.strip_prefix("${{") {
            let inner = until_brace(rest)?;
            rest.get(inner.len()..)?.strip_prefix("}}")?;
            return self.double_braced(inner.trim()).map(|r| (inner.len() + 5, r));
        }
        if let Some(rest) = text.strip_prefix("${") {
            let inner = until_brace(rest)?;
            return self.braced(inner).map(|r| (inner.len() + 3, r));
        }
        if let Some(rest) = text.strip_prefix('$') {
            let length = rest
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
                .count();
            let name = rest.get(..length)?;
            return (self.dollar && is_name(name))
                .then(|| (length + 1, plain(ReferenceKind::Environment, name)));
        }
        if !self.curly {
            return None;
        }
        let inner = until_brace(text.strip_prefix('{')?)?;
        let (prefix, name) = inner.split_once(':')?;
        let kind = match prefix {
            "env" if is_name(name) => ReferenceKind::Environment,
            "file" if !name.is_empty() => ReferenceKind::File,
            _ => return None,
        };
        Some((inner.len() + 2, plain(kind, name)))
    }

    fn double_braced(self, inner: &str) -> Option<Reference> {
        if !self.double_brace {
            return None;
        }
        // A secret may be qualified by its owner (`secrets.OWNER/BLOCK/NAME`).
        let (area, name) = inner.split_once('.')?;
        let kind = match area {
            "secrets" => ReferenceKind::Secret,
            "inputs" => ReferenceKind::Input,
            _ => return None,
        };
        (!name.is_empty()).then(|| plain(kind, name))
    }

    fn braced(self, inner: &str) -> Option<Reference> {
        if is_client_variable(inner) {
            return (self.brace || self.prefixed).then(|| plain(ReferenceKind::Client, inner));
        }
        if self.prefixed
            && let Some((prefix, name)) = inner.split_once(':')
            && !name.is_empty()
        {
            match prefix {
                "env" => return is_name(name).then(|| plain(ReferenceKind::Environment, name)),
                "input" => return Some(plain(ReferenceKind::Input, name)),
                "command" | "config" | "workspaceFolder" => return Some(plain(ReferenceKind::Client, inner)),
                _ => {}
            }
        }
        if !self.brace {
            return None;
        }
        let (name, default) = split_default(inner);
        is_name(name).then(|| Reference {
            default,
            ..plain(ReferenceKind::Environment, name)
        })
    }
}

/// Whether text that was not taken as a reference looks like one.
pub(super) fn looks_like_reference(text: &str) -> bool {
    text.contains("${") || text.contains("{env:") || text.contains("{file:")
}

/// Whether this could be the name of a variable of the environment.
pub(super) fn is_name(name: &str) -> bool {
    name.bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// What comes before the closing brace, if that is near.
fn until_brace(text: &str) -> Option<&str> {
    let near = text.get(..text.floor_char_boundary(MAX_REFERENCE_BYTES))?;
    near.split_once('}').map(|(inner, _)| inner)
}

fn plain(kind: ReferenceKind, name: &str) -> Reference {
    Reference {
        kind,
        name: name.to_owned(),
        default: None,
        written: None,
    }
}

fn split_default(inner: &str) -> (&str, Option<Fallback>) {
    match inner.split_once(":-") {
        Some((name, default)) => (name, Some(Fallback::Text(default.to_owned()))),
        None => (inner, None),
    }
}

fn is_client_variable(name: &str) -> bool {
    matches!(
        name,
        "workspaceFolder"
            | "workspaceFolderBasename"
            | "workspaceRoot"
            | "userHome"
            | "pathSeparator"
            | "/"
            | "cwd"
            | "execPath"
            | "extensionPath"
            | "file"
            | "fileBasename"
            | "fileDirname"
            | "fileWorkspaceFolder"
            | "relativeFile"
            | "selectedText"
            | "defaultBuildTask"
            | "CLAUDE_PLUGIN_ROOT"
            | "CLAUDE_PLUGIN_DATA"
            | "CLAUDE_PROJECT_DIR"
    )
}
