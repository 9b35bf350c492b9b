//! The registry of MCP servers, as people browse it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRegistry {
    /// A part of a name; all servers when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 120))]
    pub query: Option<String>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub cursor: Option<String>,
    /// At most this many servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 30), extend("default" = 20))]
    pub limit: Option<u16>,
}

/// A page of servers: those with a preset first, then the registry's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegistryPage {
    /// Its servers. What the registry's say of themselves is strangers' text.
    pub items: Vec<RegistryServer>,
    /// Pass it as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
    /// Whether the registry answered, where this page needed it to.
    pub registry_reachable: bool,
}

/// Who stands behind a server, as far as it was proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegistryOwnership {
    /// `catalogue` (a preset of ours), `domain` (control of the domain), `github` (control of the account, and of no more) or `unproven`.
    pub kind: String,
    /// The domain or account.
    pub subject: String,
}

/// A server that could be connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegistryServer {
    /// Its name in the registry, or `verified/` and the id of its preset.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it says it does.
    pub description: String,
    /// Who published it.
    pub publisher: String,
    /// Whether it is known that the publisher is who the name says. A GitHub account proves itself alone.
    pub publisher_verified: bool,
    /// What was proven of the publisher.
    pub ownership: RegistryOwnership,
    /// `verified` for presets, else `registry`.
    pub source: String,
    /// The preset to connect it by, where there is one.
    pub preset: Option<String>,
    /// Its version; null for presets.
    pub version: Option<String>,
    /// `active` or `deprecated`.
    pub status: String,
    /// Why, where it is deprecated.
    pub status_message: Option<String>,
    /// Where to read about it.
    pub website: Option<String>,
    /// Its source.
    pub repository: Option<String>,
    /// An icon, over HTTPS. Nothing here fetches it.
    pub icon_url: Option<String>,
    /// The address to connect; null where there is none.
    pub endpoint_url: Option<String>,
    /// All its addresses.
    pub endpoints: Vec<RegistryEndpoint>,
    /// How it can be spoken to: `streamable-http`, `sse`, `stdio`.
    pub transports: Vec<String>,
    /// How one proves oneself at that address: `oauth`, `bearer`, `header`, `none`, or `unknown` where the entry does not say.
    pub auth: String,
    /// The header, for `header`.
    pub auth_header: Option<String>,
    /// For `oauth`: `dynamic`, `client_required`, or `unknown`.
    pub oauth_registration: String,
    /// What is to be filled in first.
    pub asks_for: Vec<String>,
    /// Whether it can be connected here. Packages that run as commands are the operator's to configure.
    pub connectable: bool,
    /// Why not, where it cannot.
    pub hindrance: Option<String>,
    /// What can be installed.
    pub packages: Vec<RegistryPackage>,
}

/// An address of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegistryEndpoint {
    /// `streamable-http` or `sse`.
    pub transport: String,
    /// Its URL; may hold places to fill in.
    pub url: String,
    /// Why it cannot be connected as it is; null where it can.
    pub hindrance: Option<String>,
}

/// Something to be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegistryPackage {
    /// `npm`, `pypi`, `oci` …
    pub registry_type: String,
    /// What is to be installed.
    pub identifier: String,
    /// Its version, where it is not part of the identifier.
    pub version: Option<String>,
    /// How it is spoken to.
    pub transport: String,
}
