//! Lists come in pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which part of a list is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// Where the last page ended: its `next_cursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// Its items.
    pub items: Vec<T>,
    /// Pass it as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
}
