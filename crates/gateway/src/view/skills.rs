//! The skills a view offers.

use std::collections::HashMap;
use std::sync::Arc;

use connections::skill::Skill;
use domain::{Connection, ConnectionId, ContextAccess, Label, Namespace};
use store::Catalogue;

use super::{Catalogued, View};

/// A skill the view offers. It is known by its server and its URI together: another server's skill of the same URI or name is another.
#[derive(Debug, Clone)]
pub struct OfferedSkill {
    /// Whose.
    pub connection: ConnectionId,
    /// What people call that connection.
    pub label: Label,
    /// The prefix of its tools' names.
    pub namespace: Namespace,
    /// The skill, with the manifest it is loaded by.
    pub skill: Arc<Skill>,
    /// Whether clients that know no connections get it: no file of it has the URI of something an older connection lists.
    pub served: bool,
}

impl View {
    /// The skills that are there: instructions alone, chosen or all, and where chosen with the manifest that was approved.
    #[must_use]
    pub fn skills(&self) -> &[OfferedSkill] {
        &self.lists().skills
    }

    /// One of them.
    #[must_use]
    pub fn skill(&self, connection: ConnectionId, uri: &str) -> Option<&OfferedSkill> {
        let wanted = |offered: &&OfferedSkill| offered.connection == connection && &*offered.skill.uri == uri;
        self.skills().iter().find(wanted)
    }
}

/// What a connection offers of its catalogue.
pub(super) fn offered<'a>(
    connection: &'a Connection,
    access: &'a ContextAccess,
    catalogue: &'a Catalogue,
) -> impl Iterator<Item = OfferedSkill> + use<'a> {
    let read = catalogue
        .skills
        .iter()
        .filter_map(|raw| Skill::read(raw.clone()).ok());
    read.filter(|skill| skill.unsupported.is_none() && access.loads_skill(&skill.uri, skill.manifest))
        .map(|skill| OfferedSkill {
            connection: connection.id,
            label: connection.label.clone(),
            namespace: connection.namespace.clone(),
            skill: Arc::new(skill),
            served: true,
        })
}

/// Marks the skills that clients get: of two connections that list the same URI the older one has it.
pub(super) fn serve(skills: &mut [OfferedSkill], resources: &[Catalogued]) {
    let mut owners: HashMap<Arc<str>, ConnectionId> = resources
        .iter()
        .map(|resource| (resource.exposed.clone(), resource.connection))
        .collect();
    for offered in skills {
        let free = |uri: &Arc<str>| owners.get(uri).is_none_or(|owner| *owner == offered.connection);
        offered.served = offered.skill.files.iter().all(|file| free(&file.uri));
        if offered.served {
            let files = offered.skill.files.iter();
            owners.extend(files.map(|file| (file.uri.clone(), offered.connection)));
        }
    }
}
