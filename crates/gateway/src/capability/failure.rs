//! Why a capability could not do what was asked: typed once, mapped to a problem document once.

use std::fmt;

/// What kind of failure it is. The server maps each to one HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The input is not acceptable (422).
    Invalid,
    /// The request cannot be read at all (400).
    Malformed,
    /// No credential, or one that is not valid (401).
    Unauthenticated,
    /// The principal may not do this (403).
    Forbidden,
    /// It does not exist, or may not be known to exist (404).
    NotFound,
    /// It contradicts what is there (409).
    Conflict,
    /// Too many requests (429).
    RateLimited,
    /// The upstream failed (502).
    Upstream,
    /// Something we need is not available now (503).
    Unavailable,
    /// The upstream did not answer in time (504).
    Timeout,
    /// Ours (500).
    Internal,
}

/// A failure a person can act on: a stable code, a sentence, the field where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// The stable code, `area.reason`; listed in `docs/errors.md`.
    pub code: &'static str,
    /// What was wrong, where, and what to do.
    pub detail: String,
    /// The field of the input it is about.
    pub field: Option<String>,
    /// Seconds after which trying again makes sense.
    pub retry_after: Option<u64>,
}

impl Failure {
    /// A failure of this kind.
    #[must_use]
    pub fn new(kind: FailureKind, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind,
            code,
            detail: detail.into(),
            field: None,
            retry_after: None,
        }
    }

    /// The same, about a field of the input.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Something does not exist, or may not be known to.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        Self::new(
            FailureKind::NotFound,
            "resource.not_found",
            format!("there is no such {what} in this workspace"),
        )
    }

    /// A field is not acceptable.
    #[must_use]
    pub fn field(field: &str, detail: impl Into<String>) -> Self {
        Self::new(FailureKind::Invalid, "input.invalid", detail).at(field)
    }

    /// Input that does not deserialize although it fits the schema.
    #[must_use]
    pub fn invalid_input(error: &serde_json::Error) -> Self {
        Self::new(FailureKind::Invalid, "input.invalid", error.to_string())
    }

    /// Something of ours failed. The cause is logged here, once, and not shown.
    #[must_use]
    pub fn internal(what: &'static str, cause: impl fmt::Display) -> Self {
        tracing::error!(cause = %cause, "{what}");
        Self::new(
            FailureKind::Internal,
            "server.internal",
            format!("{what}; the server's log has the cause"),
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl std::error::Error for Failure {}
