//! Why a schema cannot be used.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, ValidationError};

/// A schema that cannot be compiled. The text is for people who look after the server; it may quote the schema, cut short.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaProblem {
    /// Not an object.
    #[error("the schema is {found}, not an object; the server must send one for every tool")]
    NotAnObject {
        /// What it is instead.
        found: &'static str,
    },
    /// An object key that stands twice, or text that is not JSON.
    #[error("the schema cannot be read: {reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
    /// Larger or deeper than allowed.
    #[error("the schema has {found} {what}, at most {limit} are allowed")]
    TooLarge {
        /// What is too many.
        what: &'static str,
        /// How many there are (at least).
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A dialect nobody knows.
    #[error("the schema's dialect is not known ({named}); drafts 4, 6, 7, 2019-09 and 2020-12 are")]
    Dialect {
        /// What `$schema` says.
        named: String,
    },
    /// A reference to something outside of the schema, which is never fetched, or to nothing.
    #[error("the schema refers to {reference}, which is not in it; nothing is fetched for a schema")]
    Reference {
        /// The reference.
        reference: String,
    },
    /// The schema breaks the rules of its own dialect, or holds a pattern that cannot be compiled.
    #[error("the schema is not valid at {at}: {reason}")]
    Invalid {
        /// Where, as a JSON pointer.
        at: String,
        /// What is wrong.
        reason: String,
    },
}

/// Longest text quoted from a schema, in characters.
const QUOTED: usize = 160;

/// The beginning of a text, on one line and without characters that hide or redirect others.
pub(super) fn excerpt(text: &str) -> String {
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(QUOTED)
        .collect();
    if text.chars().nth(QUOTED).is_some() {
        out.push('…');
    }
    out
}

pub(super) fn of(error: &ValidationError<'_>) -> SchemaProblem {
    let at = || match error.instance_path().as_str() {
        "" => "the top".to_owned(),
        path => excerpt(path),
    };
    match error.kind() {
        ValidationErrorKind::Referencing(error) => SchemaProblem::Reference {
            reference: reference(error),
        },
        _ => SchemaProblem::Invalid {
            at: at(),
            reason: excerpt(&error.to_string()),
        },
    }
}

fn reference(error: &ReferencingError) -> String {
    match error {
        ReferencingError::Unretrievable { uri, .. } | ReferencingError::CircularMetaschema { uri } => {
            excerpt(uri)
        }
        ReferencingError::PointerToNowhere { pointer }
        | ReferencingError::InvalidPercentEncoding { pointer, .. }
        | ReferencingError::InvalidArrayIndex { pointer, .. } => excerpt(&format!("#{pointer}")),
        ReferencingError::NoSuchAnchor { anchor } | ReferencingError::InvalidAnchor { anchor } => {
            excerpt(&format!("#{anchor}"))
        }
        ReferencingError::InvalidUri(_) => "something that is not a URI".to_owned(),
        ReferencingError::UnknownSpecification { specification } => excerpt(specification),
    }
}
