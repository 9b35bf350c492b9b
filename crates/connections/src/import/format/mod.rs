//! From bytes to one tree of values, whatever the format: bounded, duplicates kept in mind, errors with line and column.

mod json;
mod tree;

use std::fmt;

use serde_json::{Map, Value};

use super::error::ImportError;
use super::{MAX_DEPTH, MAX_FILE_BYTES, MAX_VALUES};

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments and trailing commas tolerated.
    Json,
    /// YAML, one document.
    Yaml,
    /// TOML.
    Toml,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        })
    }
}

/// A file as text.
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
    pub(super) had_bom: bool,
}

/// A file as values.
pub(super) struct Tree {
    pub(super) root: Map<String, Value>,
    /// Keys that stand twice in one object, as paths from the root.
    pub(super) duplicates: Vec<Vec<String>>,
}

/// What is left to spend, and what was seen on the way.
struct Budget {
    values: usize,
    duplicates: Vec<Vec<String>>,
    exceeded: Option<ImportError>,
}

pub(super) fn text(bytes: &[u8]) -> Result<Text<'_>, ImportError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(ImportError::TooLarge {
            bytes: bytes.len(),
            limit: MAX_FILE_BYTES,
        });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        ImportError::NotUtf8 {
            line: 1 + before.iter().filter(|b| **b == b'\n').count(),
            column: 1 + before.len() - line_start,
        }
    })?;
    let stripped = text.strip_prefix('\u{FEFF}');
    let found = Text {
        text: stripped.unwrap_or(text),
        had_bom: stripped.is_some(),
    };
    if found.text.trim().is_empty() {
        Err(ImportError::Empty)
    } else {
        Ok(found)
    }
}

pub(super) fn tree(text: &str, format: Format) -> Result<Tree, ImportError> {
    let mut budget = Budget {
        values: MAX_VALUES,
        duplicates: Vec::new(),
        exceeded: None,
    };
    let root = match format {
        Format::Json => json::read(text, &mut budget),
        Format::Yaml => tree::read_yaml(text, &mut budget),
        Format::Toml => tree::read_toml(text, &mut budget),
    };
    match (budget.exceeded, root?) {
        (Some(error), _) => Err(error),
        (None, Value::Object(root)) => Ok(Tree {
            root,
            duplicates: budget.duplicates,
        }),
        (None, other) => Err(ImportError::NotAnObject { found: kind(&other) }),
    }
}

/// What a value is, for people.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl Budget {
    /// Counts one value at a depth; false once a limit is passed.
    fn spend(&mut self, depth: usize) -> bool {
        if self.exceeded.is_some() {
            return false;
        }
        if depth > MAX_DEPTH {
            self.exceeded = Some(ImportError::TooDeep { limit: MAX_DEPTH });
            return false;
        }
        match self.values.checked_sub(1) {
            Some(left) => self.values = left,
            None => self.exceeded = Some(ImportError::TooManyValues { limit: MAX_VALUES }),
        }
        self.exceeded.is_none()
    }

    /// Puts a value under its key; the last one wins, and the repetition is remembered.
    fn insert(&mut self, map: &mut Map<String, Value>, path: &[String], key: String, value: Value) {
        if map.contains_key(&key) && self.duplicates.len() < 100 {
            let mut at = path.to_vec();
            at.push(key.clone());
            self.duplicates.push(at);
        }
        map.insert(key, value);
    }
}
