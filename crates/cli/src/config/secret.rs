//! Secrets in the configuration: named, never written out.

use domain::Secret;
use serde::Deserialize;

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum SecretSource {
    /// An environment variable of the server.
    Env(String),
    /// A file; a line end at its end does not count.
    File(std::path::PathBuf),
    /// A secret of the workspace's vault.
    Vault(String),
}

/// A field that is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub(crate) struct SecretRef(pub(crate) SecretSource);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Source(SecretSource),
    Literal(serde::de::IgnoredAny),
}

impl TryFrom<Written> for SecretRef {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Source(source) => Ok(Self(source)),
            Written::Literal(_) => Err(
                "a secret is not written into the configuration: use { env = \"NAME\" }, { file = \"/path\" } or { vault = \"name\" }",
            ),
        }
    }
}

impl SecretSource {
    /// Reads a secret that needs no vault.
    pub(crate) fn read(&self) -> Result<Secret, String> {
        match self {
            Self::Env(name) => read_env(name),
            Self::File(path) => match std::fs::read_to_string(path) {
                Ok(text) => Ok(Secret::new(text.trim_end_matches(['\r', '\n']))),
                Err(error) => Err(format!("cannot read {}: {error}", path.display())),
            },
            Self::Vault(name) => Err(format!(
                "the vault's secret {name:?} cannot be used here; use env or file"
            )),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the one that reads the environment"
)]
fn read_env(name: &str) -> Result<Secret, String> {
    std::env::var(name)
        .map(Secret::new)
        .map_err(|_| format!("the environment variable {name} is not set"))
}
