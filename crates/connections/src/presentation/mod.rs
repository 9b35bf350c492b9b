//! Results of known tools as typed cards, for people to look at: places and the weather of Google Maps Grounding Lite.
//!
//! Pure. What does not fit is left out, card by card; what a server does not say is not made up.

mod maps_url;
mod places;
mod weather;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use self::places::{MAX_CARDS, PlaceCard, choose, places};
pub use self::weather::{Measure, Weather, Wind, weather};

/// Why a result cannot be shown as cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unpresentable {
    /// The server said that the call failed.
    #[error("the call failed, so there is nothing to show")]
    Failed,
    /// The structured content is missing, which the provider always sends.
    #[error("the result has no structured content")]
    NoStructure,
}

/// The structured content of a result (`CallToolResult`).
fn structured(result: &Value) -> Result<&Value, Unpresentable> {
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return Err(Unpresentable::Failed);
    }
    result
        .get("structuredContent")
        .filter(|content| content.is_object())
        .ok_or(Unpresentable::NoStructure)
}

/// A text of a document, where it is one and says something.
fn text<'a>(document: &'a Value, pointer: &str) -> Option<&'a str> {
    document
        .pointer(pointer)
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|text| !text.is_empty())
}
