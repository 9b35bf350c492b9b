//! `[[connections]]`: MCP servers that are commands.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::SecretSource;
use super::settings::yes;

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandEntry {
    pub(crate) name: String,
    pub(crate) label: Option<String>,
    pub(crate) command: Vec<EnvValue>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, EnvValue>,
    #[serde(default)]
    pub(crate) inherit_env: Vec<String>,
    pub(crate) cwd: Option<PathBuf>,
    #[serde(default)]
    pub(crate) sharing: Sharing,
    pub(crate) allowed_tools: Option<Vec<String>>,
    #[serde(default = "yes")]
    pub(crate) enabled: bool,
    #[serde(default = "yes")]
    pub(crate) trusted: bool,
    pub(crate) call_seconds: Option<u32>,
}

/// An argument or a variable of the child: plain text for settings, a reference for secrets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum EnvValue {
    Plain(String),
    Secret(SecretSource),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sharing {
    #[default]
    Shared,
    PerSession,
    PerCall,
}

impl Sharing {
    pub(crate) const fn domain(self) -> domain::Sharing {
        match self {
            Self::Shared => domain::Sharing::Shared,
            Self::PerSession => domain::Sharing::PerSession,
            Self::PerCall => domain::Sharing::PerCall,
        }
    }
}
