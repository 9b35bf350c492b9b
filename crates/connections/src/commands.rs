//! Commands of the operator's configuration. No other part of this crate takes one from a caller.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use domain::Secret;

/// The operator's commands, by the name each has in the configuration.
#[derive(Debug, Clone, Default)]
pub struct CommandTable {
    entries: HashMap<Arc<str>, Arc<StdioSpec>>,
}

/// One command. It is run without a shell, in a process group of its own, in an environment of exactly what is said here.
#[derive(Debug, Clone)]
pub struct StdioSpec {
    /// The program and its arguments; an argument may be a secret.
    pub argv: Vec<SecretSource>,
    /// Configured variables.
    pub env: Vec<(String, SecretSource)>,
    /// Variables taken over from our own environment, read where the configuration was.
    pub inherited: Vec<(String, Secret)>,
    /// The working directory; ours if absent.
    pub cwd: Option<PathBuf>,
}

/// Where the value of a variable or argument comes from.
#[derive(Debug, Clone)]
pub enum SecretSource {
    /// Known since the configuration was read.
    Known(Secret),
    /// A named secret of the workspace, read from the vault when the command is started.
    Vault(Arc<str>),
}

impl CommandTable {
    /// The command of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<StdioSpec>> {
        self.entries.get(name)
    }

    /// The names, in no order.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.entries.keys()
    }

    /// Whether both tables run the same under this name.
    pub(crate) fn agrees(&self, other: &Self, name: &str) -> bool {
        match (self.get(name), other.get(name)) {
            (Some(a), Some(b)) => a.same(b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, StdioSpec)> for CommandTable {
    fn from_iter<I: IntoIterator<Item = (N, StdioSpec)>>(commands: I) -> Self {
        Self {
            entries: commands
                .into_iter()
                .map(|(name, spec)| (name.into(), Arc::new(spec)))
                .collect(),
        }
    }
}

impl StdioSpec {
    fn same(&self, other: &Self) -> bool {
        let inherited = |spec: &Self| -> Vec<(String, String)> {
            spec.inherited
                .iter()
                .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                .collect()
        };
        self.argv.len() == other.argv.len()
            && self.argv.iter().zip(&other.argv).all(|(a, b)| a.same(b))
            && self.cwd == other.cwd
            && inherited(self) == inherited(other)
            && self.env.len() == other.env.len()
            && self
                .env
                .iter()
                .zip(&other.env)
                .all(|((a, x), (b, y))| a == b && x.same(y))
    }
}

impl SecretSource {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a.expose() == b.expose(),
            (Self::Vault(a), Self::Vault(b)) => a == b,
            (Self::Known(_), Self::Vault(_)) | (Self::Vault(_), Self::Known(_)) => false,
        }
    }
}
