//! Presets: servers people know by name, and how to connect to each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{Effect, Risk, Transport};

/// A server people know by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Preset {
    /// Its id, for `connections.add`.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Who publishes the server.
    pub publisher: String,
    /// What it is for.
    pub description: String,
    /// Where to read about it.
    pub website: String,
    /// Where most of this comes from: `seen` (the vendor's own word), `seen_3p` (a recording of the server), `inferred` or `memory`.
    pub confidence: String,
    /// What to know before connecting it.
    pub notes: Vec<String>,
    /// The ways to connect to it that are open here, the usual one first.
    pub variants: Vec<PresetVariant>,
}

/// One way to connect to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetVariant {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// `hosted` (at the provider), `internal` (at an address the operator registered) or `deployed` (give your own public HTTPS URL).
    pub place: String,
    /// Its URL; null where you give it.
    pub url: Option<String>,
    /// How it is reached.
    pub transport: Transport,
    /// How one proves oneself.
    pub auth: PresetAuth,
    /// Whether a server that lists its tools has thereby taken the credential. If not, `connections.verify` proves it.
    pub listing_proves: bool,
    /// The tool that verifying calls; null where none is known.
    pub verified_by: Option<String>,
    /// Where this comes from.
    pub confidence: String,
    /// What to do or know for this variant.
    pub note: Option<String>,
    /// Its tools, as far as they are known; others count as high risk until a person classifies them.
    pub tools: Vec<PresetTool>,
}

/// How one proves oneself to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetAuth {
    /// `none`, `bearer`, `header` or `oauth`.
    pub kind: String,
    /// What the secret is; null where none is asked for.
    pub secret: Option<String>,
    /// The header that carries it.
    pub header_name: Option<String>,
    /// For `oauth`: `dynamic` where Switchboard becomes a client by itself, `own_app` where you register an app and give its client ID
    /// and secret.
    pub registration: Option<String>,
    /// For `oauth`: the redirect URI to register, to the letter.
    pub callback_uri: Option<String>,
    /// For `oauth`: the scopes that are asked for; empty where the server says.
    pub scopes: Vec<String>,
}

/// What is known about a tool of a preset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetTool {
    /// Its name.
    pub name: String,
    /// Names it had before, which still find it.
    pub former_names: Vec<String>,
    /// How much harm it can do.
    pub risk: Risk,
    /// Whether it changes something.
    pub effect: Effect,
    /// Whether it is offered at the start.
    pub starter: bool,
    /// Where this comes from.
    pub confidence: String,
    /// What to know about it.
    pub note: Option<String>,
}
