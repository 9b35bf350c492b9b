//! The head of a `SKILL.md`: YAML between two lines of hyphens (Agent Skills specification).

use serde_json::{Map, Value};

use crate::import::read_yaml;

/// Longest frontmatter, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Why a text is no `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterError {
    /// It does not begin with frontmatter.
    #[error("it does not begin with a line `---`, frontmatter and a line `---`")]
    Missing,
    /// The frontmatter is too long.
    #[error("its frontmatter is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The frontmatter cannot be read.
    #[error("its frontmatter cannot be read: {0}")]
    Unreadable(String),
}

/// Splits a `SKILL.md` into its frontmatter and the instructions after it. A key that occurs twice makes it unreadable: which of the
/// two counts would depend on who reads.
///
/// # Errors
/// [`FrontmatterError`]; texts quote no more than the parser's own message.
pub fn frontmatter(text: &str) -> Result<(Map<String, Value>, &str), FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().ok_or(FrontmatterError::Missing)?;
    if first.trim_end() != "---" {
        return Err(FrontmatterError::Missing);
    }
    let mut length = 0;
    for line in lines {
        if line.trim_end() == "---" {
            let start = first.len();
            let head = text.get(start..start + length).unwrap_or_default();
            let body = text.get(start + length + line.len()..).unwrap_or_default();
            let read = read_yaml(head).map_err(FrontmatterError::Unreadable)?;
            return Ok((read, body));
        }
        length += line.len();
        if length > MAX_BYTES {
            return Err(FrontmatterError::TooLong);
        }
    }
    Err(FrontmatterError::Missing)
}
