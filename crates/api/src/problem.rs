//! Errors as RFC 9457 problem documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A problem document (`application/problem+json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// A URI that names the kind of problem: `urn:switchboard:problem:<code>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// The stable code, `area.reason`.
    pub code: String,
    /// What was wrong, where, and what to do.
    pub detail: String,
    /// The field of the input it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The request's `X-Request-Id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
