//! What of a server's prompts, resources and skills a connection offers to agents.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Digest;

/// A prompt that was chosen, with the arguments it is always given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedPrompt {
    /// The upstream's own name.
    pub name: Arc<str>,
    /// Argument values by name.
    pub arguments: BTreeMap<Arc<str>, Arc<str>>,
}

/// A skill that was approved, as it was when a person looked at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedSkill {
    /// The URI of its `SKILL.md`.
    pub uri: Arc<str>,
    /// The digest of the manifest that was looked at.
    pub manifest: Digest,
}

/// What was chosen one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Prompts.
    pub prompts: Vec<SelectedPrompt>,
    /// Resources, by URI.
    pub resources: Vec<Arc<str>>,
    /// Skills.
    pub skills: Vec<SelectedSkill>,
}

/// What a connection offers besides its tools. It gives nobody anything: an agent still needs the grant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ContextSelection {
    /// Everything its server lists, without individual approval.
    #[default]
    All,
    /// What was chosen, and nothing else.
    Selected(Arc<Selection>),
}

impl ContextSelection {
    /// What was chosen; none where everything is offered.
    #[must_use]
    pub fn selection(&self) -> Option<&Selection> {
        match self {
            Self::All => None,
            Self::Selected(selection) => Some(selection),
        }
    }

    /// Whether a prompt is offered.
    #[must_use]
    pub fn offers_prompt(&self, name: &str) -> bool {
        self.selection()
            .is_none_or(|chosen| chosen.prompts.iter().any(|prompt| &*prompt.name == name))
    }

    /// Whether a resource is offered.
    #[must_use]
    pub fn offers_resource(&self, uri: &str) -> bool {
        self.selection()
            .is_none_or(|chosen| chosen.resources.iter().any(|chosen| &**chosen == uri))
    }

    /// Whether a skill with this manifest is offered. One whose manifest changed waits for a new approval.
    #[must_use]
    pub fn offers_skill(&self, uri: &str, manifest: Digest) -> bool {
        self.selection().is_none_or(|chosen| {
            let approved = |skill: &SelectedSkill| &*skill.uri == uri && skill.manifest == manifest;
            chosen.skills.iter().any(approved)
        })
    }
}
