//! What a server listed when it was last asked.

use std::sync::Arc;

use ::connections::skill::Skill;
use api::Page;
use api::connections::{CatalogueItem, CatalogueKind, CatalogueQuery};
use api::context::SkillStatus;
use domain::{Connection, ContextSelection};
use gateway::capability::{Capability, Context, Declaration, Failure};
use serde_json::value::RawValue;
use store::Catalogue;

use super::READ_OWN;
use crate::{find, paging};

const CATALOGUE: Declaration = Declaration {
    id: "connections.catalogue",
    title: "Browse a catalogue",
    description: "Browses what a server listed when it was last asked: tools, prompts, resources, resource templates or skills, \
                  exactly as it lists them. Skills come with the manifest_digest they are approved by.",
    path: "/connections/{connection}/catalogue",
    paged: true,
    ..READ_OWN
};

/// An item and what it is.
type Listed = (CatalogueKind, Arc<RawValue>);

pub(super) fn capabilities() -> Vec<Capability> {
    vec![Capability::new(CATALOGUE, catalogue)]
}

async fn catalogue(context: Context, query: CatalogueQuery) -> Result<Page<CatalogueItem>, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let wanted = paging::request(query.cursor, query.limit);
    let workspace = find::workspace(&context)?;
    let found = workspace.catalogue(connection.id);
    if let Some(uri) = &query.skill_uri {
        return one_skill(&context, &connection, (found.map(|found| &**found), uri)).await;
    }
    let kind = query.kind.unwrap_or(CatalogueKind::Tools);
    let version = found.map_or(0, |found| found.version);
    let listed = found.map_or_else(Vec::new, |found| listed(found, kind));
    let numbered: Vec<_> = listed.into_iter().enumerate().collect();
    // The version is part of the cursor: positions of another catalogue mean nothing in this one.
    let key = |(place, _): &(usize, _)| format!("{version:010}-{place:08}");
    let page = paging::cut("catalogue", numbered, key, &wanted)?;
    let items = page
        .items
        .into_iter()
        .map(|(_, listed)| item(&connection, listed));
    Ok(Page {
        items: items.collect(),
        next_cursor: page.next_cursor,
    })
}

fn listed(found: &Catalogue, kind: CatalogueKind) -> Vec<Listed> {
    let of = |kind, items: &[Arc<RawValue>]| -> Vec<Listed> {
        items.iter().map(|raw| (kind, raw.clone())).collect()
    };
    match kind {
        CatalogueKind::Tools => of(kind, &found.tools),
        CatalogueKind::Prompts => of(kind, &found.prompts),
        CatalogueKind::Resources => of(kind, &found.resources),
        CatalogueKind::ResourceTemplates => of(kind, &found.templates),
        CatalogueKind::Skills => of(kind, &found.skills),
        CatalogueKind::All => [
            of(CatalogueKind::Tools, &found.tools),
            of(CatalogueKind::Prompts, &found.prompts),
            of(CatalogueKind::Resources, &found.resources),
            of(CatalogueKind::Skills, &found.skills),
        ]
        .concat(),
    }
}

/// The skill of this URI: as it was listed, else as its server describes it when asked.
async fn one_skill(
    context: &Context,
    connection: &Connection,
    (found, uri): (Option<&Catalogue>, &str),
) -> Result<Page<CatalogueItem>, Failure> {
    let mut known = found.into_iter().flat_map(|found| &found.skills);
    let is_meant = |raw: &&Arc<RawValue>| Skill::read((*raw).clone()).is_ok_and(|skill| &*skill.uri == uri);
    let known = known.find(is_meant).cloned();
    let raw = match known {
        Some(raw) => raw,
        None => {
            let connections = context.gateway.connections();
            let asked = connections.skill(context.tenant(), connection.id, uri).await;
            asked.map_err(|error| Failure::from(&error))?.raw
        }
    };
    Ok(Page {
        items: vec![item(connection, (CatalogueKind::Skills, raw))],
        next_cursor: None,
    })
}

fn item(connection: &Connection, (kind, raw): Listed) -> CatalogueItem {
    let definition = serde_json::from_str(raw.get()).unwrap_or_default();
    let mut item = CatalogueItem {
        kind,
        definition,
        manifest_digest: None,
        status: None,
        problem: None,
    };
    if let (CatalogueKind::Skills, Ok(skill)) = (kind, Skill::read(raw)) {
        item.manifest_digest = Some(skill.manifest.to_string());
        item.problem = skill.unsupported.as_ref().map(ToString::to_string);
        item.status = Some(status(&connection.context, &skill));
    }
    item
}

fn status(context: &ContextSelection, skill: &Skill) -> SkillStatus {
    let approved = |chosen: &domain::Selection| chosen.skills.iter().any(|known| known.uri == skill.uri);
    if skill.unsupported.is_some() {
        SkillStatus::Unsupported
    } else if context.offers_skill(&skill.uri, skill.manifest) {
        SkillStatus::Offered
    } else if context.selection().is_some_and(approved) {
        SkillStatus::Changed
    } else {
        SkillStatus::NotSelected
    }
}
