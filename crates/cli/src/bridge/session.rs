//! The session of a client of an older revision: kept for it, and opened again when the server lost it.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

pub(super) const ID: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// What was agreed.
#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    pub(super) id: Option<HeaderValue>,
    pub(super) version: Option<HeaderValue>,
    /// The client's own `initialize`, to say again.
    pub(super) opening: Option<Bytes>,
}

impl Session {
    /// The headers that name it.
    pub(super) fn name(&self, headers: &mut HeaderMap) {
        headers.extend(self.id.clone().map(|id| (ID, id)));
        headers.extend(self.version.clone().map(|version| (VERSION, version)));
    }
}
