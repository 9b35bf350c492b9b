//! Text with parts that are known only later: variables, inputs, secrets. Literal secrets are wrapped and can be moved out.

use domain::Secret;

/// Text in parts.
#[derive(Debug, Default)]
pub struct Template {
    parts: Vec<Part>,
}

/// One part of a [`Template`].
#[derive(Debug)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// A secret that stands in the file in clear; move it out with [`Entry::take_secrets`](super::Entry::take_secrets).
    Secret(Secret),
    /// A value known only later.
    Reference(Reference),
}

/// A value known only later.
#[derive(Debug)]
pub struct Reference {
    /// Where the value comes from.
    pub kind: ReferenceKind,
    /// Its name there.
    pub name: String,
    /// What to use if it is not set.
    pub default: Option<Fallback>,
    /// How the file writes it; none where that would show a secret.
    pub written: Option<String>,
}

/// What to use where a variable is not set.
#[derive(Debug)]
pub enum Fallback {
    /// Plain text.
    Text(String),
    /// A secret that stands in the file in clear.
    Secret(Secret),
    /// A secret that was moved out, by its name.
    Vault(String),
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceKind {
    /// A variable of the environment the client runs in.
    Environment,
    /// An input the person is asked for; see [`Import::inputs`](super::Import::inputs).
    Input,
    /// A secret the client keeps under this name; unknown to us, to be asked for.
    Secret,
    /// A variable only the client knows, such as `workspaceFolder`.
    Client,
    /// The content of a file; not read.
    File,
    /// A secret of this file that the caller moved to the vault under this name.
    Vault,
}

/// A literal secret on its way to the vault.
#[derive(Debug)]
pub struct FoundSecret {
    /// The name its place now refers to, unique in the import: slug, place, number.
    pub name: String,
    /// Where it stood (`env/NAME`, `args/0`, `headers/NAME`, `url` …).
    pub place: String,
    /// The secret.
    pub value: Secret,
}

impl Template {
    /// Plain text without references.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            parts: vec![Part::Text(text.into())],
        }
    }

    pub(super) fn from_parts(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    /// The parts in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The whole text, if it has neither secrets nor references.
    #[must_use]
    pub fn plain(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Secret(_) | Part::Reference(_) => None,
            })
            .collect()
    }

    /// The reference, if the template is exactly one.
    #[must_use]
    pub fn as_reference(&self) -> Option<&Reference> {
        match self.parts.as_slice() {
            [Part::Reference(reference)] => Some(reference),
            _ => None,
        }
    }

    /// All references.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Reference(reference) => Some(reference),
            Part::Text(_) | Part::Secret(_) => None,
        })
    }

    /// Whether a secret stands in clear in it.
    #[must_use]
    pub fn holds_secret(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Secret(_) => true,
            Part::Reference(reference) => matches!(reference.default, Some(Fallback::Secret(_))),
            Part::Text(_) => false,
        })
    }

    /// Whether it holds a secret or refers to one by name.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.holds_secret()
            || self.references().any(|r| match r.kind {
                ReferenceKind::Secret | ReferenceKind::Vault => true,
                ReferenceKind::Environment
                | ReferenceKind::Input
                | ReferenceKind::Client
                | ReferenceKind::File => false,
            })
    }

    /// For people: secrets as `[secret]`, references as the file writes them.
    #[must_use]
    pub fn shown(&self) -> String {
        self.render(|_| "[secret]".to_owned())
    }

    /// As [`shown`](Self::shown), with the caller's word for each secret.
    pub fn render(&self, mut secret: impl FnMut(&Secret) -> String) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Secret(value) => text.push_str(&secret(value)),
                Part::Reference(reference) => text.push_str(&reference.shown()),
            }
        }
        text
    }

    /// Moves every literal secret out, leaving a [`ReferenceKind::Vault`] reference. `name` gives each the name to use.
    pub fn take_secrets(&mut self, mut name: impl FnMut() -> String) -> Vec<(String, Secret)> {
        let mut taken = Vec::new();
        for part in &mut self.parts {
            match part {
                Part::Text(_) => {}
                Part::Secret(_) => {
                    let reference = Reference {
                        kind: ReferenceKind::Vault,
                        name: name(),
                        default: None,
                        written: None,
                    };
                    let key = reference.name.clone();
                    if let Part::Secret(value) = std::mem::replace(part, Part::Reference(reference)) {
                        taken.push((key, value));
                    }
                }
                Part::Reference(reference) => {
                    if let Some(Fallback::Secret(_)) = reference.default {
                        let key = name();
                        let vault = Some(Fallback::Vault(key.clone()));
                        if let Some(Fallback::Secret(value)) =
                            std::mem::replace(&mut reference.default, vault)
                        {
                            taken.push((key, value));
                        }
                    }
                }
            }
        }
        taken
    }
}

impl Reference {
    /// How the file writes it, or a neutral form where that would show a secret.
    #[must_use]
    pub fn shown(&self) -> String {
        if let Some(written) = &self.written {
            return written.clone();
        }
        match &self.default {
            None => format!("${{{}}}", self.name),
            Some(_) => format!("${{{}:-[secret]}}", self.name),
        }
    }
}
