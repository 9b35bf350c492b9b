//! A prompt, resource or template as a view shows it.

use std::sync::Arc;

use domain::ConnectionId;
use serde_json::value::RawValue;

/// An item of a connection's catalogue, as a view shows it.
#[derive(Debug, Clone)]
pub struct Catalogued {
    /// Whose.
    pub connection: ConnectionId,
    /// The exposed prompt name, the resource's URI, or the template.
    pub exposed: Arc<str>,
    /// The upstream's own prompt name; the same as `exposed` for resources and templates.
    pub name: Arc<str>,
    /// The definition, untouched but for a prefixed prompt name.
    pub definition: Arc<RawValue>,
}
