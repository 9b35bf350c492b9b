//! The server itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing to say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

/// Asks for the time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurrentTimeQuery {
    /// An IANA time zone name such as `Europe/Brussels`; UTC when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub time_zone: Option<String>,
}

/// The time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CurrentTime {
    /// The time in UTC, RFC 3339.
    pub utc: String,
    /// The time in the asked-for zone, RFC 3339 with its offset.
    pub local: String,
    /// The zone.
    pub time_zone: String,
    /// The day of the week there.
    pub weekday: String,
}

/// What reading the configuration again came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reloaded {
    /// Connections the configuration now names.
    pub connections: u32,
    /// Rules in force.
    pub rules: u32,
    /// What could not be taken over and why; the old state stays for those.
    pub problems: Vec<String>,
}
