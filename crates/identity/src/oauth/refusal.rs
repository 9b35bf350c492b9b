//! Why a client gets nothing, in the words of the specifications.

use store::StoreError;

/// A refusal: an error code of RFC 6749, 7591 or 8707, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Refusal {
    /// The code, as `invalid_grant`.
    pub code: &'static str,
    /// What was wrong, for whoever builds or runs the client. Repeats nothing secret.
    pub detail: String,
}

impl Refusal {
    /// A refusal with this code.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { code, detail }
    }

    pub(super) fn request(detail: impl Into<String>) -> Self {
        Self::new("invalid_request", detail)
    }

    pub(super) fn client(detail: impl Into<String>) -> Self {
        Self::new("invalid_client", detail)
    }

    /// One text for all reasons: whoever tries tokens learns nothing.
    pub(super) fn grant() -> Self {
        let detail = "the code or refresh token is not valid: it was used, has lapsed, was revoked, or belongs to another client";
        Self::new("invalid_grant", detail)
    }

    pub(super) fn target() -> Self {
        let detail = "`resource` must be the address of one MCP endpoint of this server, as its protected resource metadata gives it";
        Self::new("invalid_target", detail)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        if let StoreError::Full { .. } = &error {
            return Self::new("temporarily_unavailable", error.to_string());
        }
        tracing::error!(%error, "the store failed while a client signed in");
        if error.is_passing() {
            let detail = "the database takes nothing at the moment; try again later";
            return Self::new("temporarily_unavailable", detail);
        }
        Self::new("server_error", "a fault of this server; its log says which")
    }
}
