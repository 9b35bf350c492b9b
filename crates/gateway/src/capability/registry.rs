//! All capabilities by id, and the checks that keep the declarations honest.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::Surface;

use super::Capability;

/// A declaration that cannot stand beside the others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two capabilities share an id, tool name, command or operation.
    #[error("{what} {value:?} is declared twice")]
    Duplicate {
        /// What is shared.
        what: &'static str,
        /// The shared value.
        value: String,
    },
    /// A path parameter that is no field of the input.
    #[error("capability {id}: path parameter {parameter:?} is not a field of its input")]
    PathParameter {
        /// Whose.
        id: &'static str,
        /// Which.
        parameter: String,
    },
    /// A capability that carries a call, declared for agents: an agent makes its calls itself.
    #[error("capability {id} carries a call and cannot be an agent's tool; take `agent` from its surfaces")]
    Carries {
        /// Whose.
        id: &'static str,
    },
}

/// Every capability, in order of id.
#[derive(Debug, Default)]
pub struct Registry {
    by_id: BTreeMap<&'static str, Capability>,
    by_tool_name: HashMap<String, &'static str>,
}

impl Registry {
    /// Takes all capabilities in.
    ///
    /// # Errors
    /// When two collide, or a path parameter is not a field of the input.
    pub fn new(capabilities: Vec<Capability>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        let mut operations = HashSet::new();
        let mut commands = HashSet::new();
        for capability in capabilities {
            let d = capability.declaration;
            unique(
                operations.insert(format!("{} {}", d.method.as_str(), d.path)),
                "operation",
                d.path,
            )?;
            if d.on(Surface::Cli) {
                let words = d.command_words().join(" ");
                unique(commands.insert(words.clone()), "command", &words)?;
            }
            if capability.carries() && d.on(Surface::Agent) {
                return Err(RegistryError::Carries { id: d.id });
            }
            for parameter in path_parameters(d.path) {
                let known = capability
                    .input
                    .pointer(&format!("/properties/{parameter}"))
                    .is_some();
                if !known {
                    return Err(RegistryError::PathParameter {
                        id: d.id,
                        parameter: parameter.to_owned(),
                    });
                }
            }
            let name = d.tool_name();
            unique(
                registry.by_tool_name.insert(name.clone(), d.id).is_none(),
                "tool name",
                &name,
            )?;
            unique(registry.by_id.insert(d.id, capability).is_none(), "id", d.id)?;
        }
        Ok(registry)
    }

    /// The capability with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Capability> {
        self.by_id.get(id)
    }

    /// The capability with this tool name (`connections_add`).
    #[must_use]
    pub fn by_tool_name(&self, name: &str) -> Option<&Capability> {
        self.by_tool_name.get(name).and_then(|id| self.get(id))
    }

    /// All of them, in order of id.
    pub fn iter(&self) -> impl Iterator<Item = &Capability> {
        self.by_id.values()
    }

    /// Those of one surface.
    pub fn on(&self, surface: Surface) -> impl Iterator<Item = &Capability> {
        self.iter().filter(move |c| c.declaration.on(surface))
    }
}

/// The names between braces in a path.
pub(crate) fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn unique(fresh: bool, what: &'static str, value: &str) -> Result<(), RegistryError> {
    if fresh {
        Ok(())
    } else {
        Err(RegistryError::Duplicate {
            what,
            value: value.to_owned(),
        })
    }
}
