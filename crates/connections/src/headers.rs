//! Which headers a connection may send with every request, besides those the protocol needs: one rule for all ways in.

use std::sync::Arc;

use domain::Secret;

/// Most further headers of one connection.
pub const MAX_HEADERS: usize = 32;
/// Longest name of a header, in bytes.
pub const MAX_HEADER_NAME: usize = 128;
/// Longest value of a header, in bytes.
pub const MAX_HEADER_VALUE: usize = 16_384;

/// Headers that are Switchboard's to set.
const OURS: &[&str] = &[
    "host",
    "content-length",
    "content-type",
    "accept",
    "connection",
    "transfer-encoding",
    "te",
    "upgrade",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
];
/// Headers of the modern protocol that mirror arguments begin like this (2026-07-28, "Standard Headers").
const MIRRORED: &str = "mcp-param-";

/// The name of a header that may be configured, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HeaderName(Arc<str>);

/// The value of a header, or a token that becomes part of one.
#[derive(Debug, Clone)]
pub struct HeaderValue(Secret);

/// Headers with their values: different names, and not too many.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    list: Vec<(HeaderName, HeaderValue)>,
}

/// A header cannot be configured like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It is no name, or too long.
    #[error("not an HTTP header name of at most {MAX_HEADER_NAME} characters (RFC 9110, section 5.1)")]
    Name,
    /// The protocol needs it.
    #[error("this header is set by Switchboard itself")]
    Ours,
    /// The value is empty, too long, or has other characters.
    #[error("must be 1 to {MAX_HEADER_VALUE} visible ASCII characters")]
    Value,
    /// The name was there before.
    #[error("this header is given twice")]
    Twice,
    /// The list is full.
    #[error("at most {MAX_HEADERS} headers can be sent")]
    TooMany,
}

impl HeaderName {
    /// Checks a name, in any case.
    ///
    /// # Errors
    /// When it is no header's name, or the protocol needs the header.
    pub fn new(name: &str) -> Result<Self, HeaderError> {
        let lower = name.to_ascii_lowercase();
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if lower.is_empty() || lower.len() > MAX_HEADER_NAME || !lower.bytes().all(token) {
            return Err(HeaderError::Name);
        }
        if OURS.contains(&&*lower) || lower.starts_with(MIRRORED) {
            return Err(HeaderError::Ours);
        }
        Ok(Self(lower.into()))
    }

    /// The name, in lower case.
    #[must_use]
    pub const fn as_arc(&self) -> &Arc<str> {
        &self.0
    }
}

impl HeaderValue {
    /// Checks a value.
    ///
    /// # Errors
    /// When it is empty, too long, or has other than visible ASCII characters and spaces.
    pub fn new(value: Secret) -> Result<Self, HeaderError> {
        let text = value.expose();
        let legal =
            (1..=MAX_HEADER_VALUE).contains(&text.len()) && text.bytes().all(|b| (0x20..0x7f).contains(&b));
        if legal {
            Ok(Self(value))
        } else {
            Err(HeaderError::Value)
        }
    }

    /// The text, for the vault.
    #[must_use]
    pub const fn secret(&self) -> &Secret {
        &self.0
    }
}

impl Headers {
    /// Adds a header.
    ///
    /// # Errors
    /// When there are enough, or one of this name is there.
    pub fn add(&mut self, name: HeaderName, value: HeaderValue) -> Result<(), HeaderError> {
        if self.list.len() == MAX_HEADERS {
            return Err(HeaderError::TooMany);
        }
        if self.iter().any(|(known, _)| *known == name) {
            return Err(HeaderError::Twice);
        }
        self.list.push((name, value));
        Ok(())
    }

    /// The headers, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.list.iter().map(|(name, value)| (name, value))
    }

    /// Their names, as a connection keeps them.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        self.list.iter().map(|(name, _)| name.0.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use domain::Secret;

    use super::{
        HeaderError, HeaderName, HeaderValue, Headers, MAX_HEADER_NAME, MAX_HEADER_VALUE, MAX_HEADERS,
    };

    #[test]
    fn names_and_values() {
        let names: &[(&str, Result<&str, HeaderError>)] = &[
            ("X-Team", Ok("x-team")),
            ("Authorization", Ok("authorization")),
            ("a!#$%&'*+-.^_`|~9", Ok("a!#$%&'*+-.^_`|~9")),
            ("", Err(HeaderError::Name)),
            ("x team", Err(HeaderError::Name)),
            ("x:", Err(HeaderError::Name)),
            ("größe", Err(HeaderError::Name)),
            ("x\r\n", Err(HeaderError::Name)),
            ("Host", Err(HeaderError::Ours)),
            ("ACCEPT", Err(HeaderError::Ours)),
            ("Mcp-Session-Id", Err(HeaderError::Ours)),
            ("Mcp-Param-City", Err(HeaderError::Ours)),
        ];
        for (name, want) in names {
            let made = HeaderName::new(name);
            assert_eq!(
                made.as_ref().map(|name| &**name.as_arc()).map_err(|e| *e),
                *want,
                "{name:?}"
            );
        }
        let long = |length| HeaderName::new(&"x".repeat(length)).is_ok();
        assert!(long(MAX_HEADER_NAME) && !long(MAX_HEADER_NAME + 1));
        let longest = "v".repeat(MAX_HEADER_VALUE);
        for (value, good) in [
            ("v", true),
            ("two words", true),
            (&*longest, true),
            (&*format!("{longest}v"), false),
            ("", false),
            ("a\tb", false),
            ("a\r\nX: y", false),
            ("é", false),
            ("\u{7f}", false),
        ] {
            assert_eq!(HeaderValue::new(Secret::new(value)).is_ok(), good, "{value:?}");
        }
    }

    #[test]
    fn different_and_not_too_many() {
        let mut headers = Headers::default();
        let mut add = |name: &str| {
            let value = HeaderValue::new(Secret::new("v")).unwrap();
            headers.add(HeaderName::new(name).unwrap(), value)
        };
        for number in 0..MAX_HEADERS - 1 {
            assert_eq!(add(&format!("x-{number}")), Ok(()));
        }
        assert_eq!(add("X-0"), Err(HeaderError::Twice));
        assert_eq!(add("last"), Ok(()));
        assert_eq!(add("one-more"), Err(HeaderError::TooMany));
        assert_eq!(headers.names().len(), MAX_HEADERS);
    }
}
