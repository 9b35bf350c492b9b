//! Names people give: handles, labels, and the namespaces made from labels.

use std::fmt;
use std::sync::Arc;

/// Why a name is not acceptable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing but space was given.
    #[error("{what} is empty")]
    Empty {
        /// Which name.
        what: &'static str,
    },
    /// More characters than allowed.
    #[error("{what} has {length} characters, at most {max} are allowed")]
    TooLong {
        /// Which name.
        what: &'static str,
        /// Its length in characters.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// A character that does not belong in such a name.
    #[error("{what} may only hold {allowed}")]
    Character {
        /// Which name.
        what: &'static str,
        /// The allowed characters, for people.
        allowed: &'static str,
    },
}

/// An agent's handle: `[a-z0-9]` then `[a-z0-9-]`, at most 64. A lone `-` is reserved in paths and so is never a handle.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(Arc<str>);

/// What people call a connection: any text without control or direction-changing characters, 1 to 64 characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(Arc<str>);

/// The prefix of a connection's tool names: `[a-z0-9-]`, 1 to 20, fixed when the connection is created.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(Arc<str>);

impl Handle {
    /// Longest handle, in characters.
    pub const MAX: usize = 64;

    /// Checks and takes a handle.
    ///
    /// # Errors
    /// When it is empty, too long, or holds another character.
    pub fn new(text: &str) -> Result<Self, NameError> {
        slug("agent handle", text, Self::MAX).map(Self)
    }
}

impl Namespace {
    /// Longest namespace, in characters.
    pub const MAX: usize = 20;

    /// Checks and takes a namespace.
    ///
    /// # Errors
    /// When it is empty, too long, or holds another character.
    pub fn new(text: &str) -> Result<Self, NameError> {
        slug("namespace", text, Self::MAX).map(Self)
    }

    /// The namespace a label suggests: lower case, runs of anything else become one `-`, cut to length; `server` where nothing
    /// is left. Uniqueness is the caller's to see to, with [`Namespace::numbered`].
    #[must_use]
    pub fn suggest(label: &str) -> Self {
        let mut out = String::new();
        for c in label.chars().flat_map(char::to_lowercase) {
            if out.len() == Self::MAX {
                break;
            }
            if c.is_ascii_alphanumeric() {
                out.push(c);
            } else if !out.is_empty() && !out.ends_with('-') {
                out.push('-');
            }
        }
        let text = out.trim_matches('-');
        Self(Arc::from(if text.is_empty() { "server" } else { text }))
    }

    /// This namespace with a number behind it, still within the limit.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Self {
        let suffix = format!("-{number}");
        let keep = Self::MAX.saturating_sub(suffix.len());
        let stem: String = self.0.chars().take(keep).collect();
        Self(Arc::from(format!("{}{suffix}", stem.trim_end_matches('-'))))
    }
}

impl Label {
    /// Longest label, in characters.
    pub const MAX: usize = 64;

    /// Checks and takes a label; space around it is dropped.
    ///
    /// # Errors
    /// When it is empty, too long, or holds a control or direction-changing character.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let text = text.trim();
        bounded("label", text, Self::MAX)?;
        if text.chars().any(deceptive) {
            return Err(NameError::Character {
                what: "label",
                allowed: "visible characters",
            });
        }
        Ok(Self(Arc::from(text)))
    }
}

fn slug(what: &'static str, text: &str, max: usize) -> Result<Arc<str>, NameError> {
    bounded(what, text, max)?;
    let legal = text
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !legal || text.starts_with('-') {
        return Err(NameError::Character {
            what,
            allowed: "a-z, 0-9 and inner hyphens",
        });
    }
    Ok(Arc::from(text))
}

fn bounded(what: &'static str, text: &str, max: usize) -> Result<(), NameError> {
    match text.chars().count() {
        0 => Err(NameError::Empty { what }),
        length if length > max => Err(NameError::TooLong { what, length, max }),
        _ => Ok(()),
    }
}

/// Control, zero-width and direction-changing characters: text that does not show what it says.
fn deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{00ad}')
}

macro_rules! text {
    ($($name:ident),*) => {$(
        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    )*};
}

text!(Handle, Label, Namespace);

#[cfg(test)]
mod tests {
    use super::{Handle, Label, Namespace};

    #[test]
    fn handles() {
        for (text, ok) in [
            ("default", true),
            ("a-1", true),
            ("-", false),
            ("-a", false),
            ("A", false),
            ("", false),
            ("a b", false),
        ] {
            assert_eq!(Handle::new(text).is_ok(), ok, "{text:?}");
        }
        assert!(Handle::new(&"a".repeat(65)).is_err());
    }

    #[test]
    fn namespaces_from_labels() {
        let cases = [
            ("GitHub", "github"),
            ("google maps", "google-maps"),
            ("名前", "server"),
            ("  --x--  ", "x"),
            ("a very long label that goes on", "a-very-long-label-th"),
        ];
        for (label, want) in cases {
            let namespace = Namespace::suggest(label);
            assert_eq!(namespace.as_str(), want);
            assert!(Namespace::new(namespace.as_str()).is_ok());
            assert!(Namespace::new(namespace.numbered(12).as_str()).is_ok());
        }
        assert_eq!(
            Namespace::suggest("a very long label that goes on")
                .numbered(2)
                .as_str(),
            "a-very-long-label-2"
        );
    }

    #[test]
    fn labels_show_what_they_say() {
        for (text, ok) in [
            ("Mail (work)", true),
            ("a\u{202e}b", false),
            ("a\nb", false),
            ("   ", false),
        ] {
            assert_eq!(Label::new(text).is_ok(), ok, "{text:?}");
        }
    }
}
