//! What a server listed when it was last asked.

use api::Page;
use api::connections::{CatalogueItem, CatalogueKind, CatalogueQuery};
use gateway::capability::{Capability, Context, Declaration, Failure};

use super::READ;
use crate::{find, paging};

const CATALOGUE: Declaration = Declaration {
    id: "connections.catalogue",
    title: "Browse a catalogue",
    description: "Browses what a server listed when it was last asked: tools, prompts, resources or resource templates, exactly as \
                  it lists them.",
    path: "/connections/{connection}/catalogue",
    paged: true,
    ..READ
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![Capability::new(CATALOGUE, catalogue)]
}

async fn catalogue(context: Context, query: CatalogueQuery) -> Result<Page<CatalogueItem>, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let kind = query.kind.unwrap_or(CatalogueKind::Tools);
    let wanted = paging::request(query.cursor, query.limit);
    let workspace = find::workspace(&context)?;
    let Some(found) = workspace.catalogue(connection.id) else {
        return Ok(Page {
            items: Vec::new(),
            next_cursor: None,
        });
    };
    let items = match kind {
        CatalogueKind::Tools => &found.tools,
        CatalogueKind::Prompts => &found.prompts,
        CatalogueKind::Resources => &found.resources,
        CatalogueKind::ResourceTemplates => &found.templates,
    };
    let numbered: Vec<_> = items.iter().enumerate().collect();
    // The version is part of the cursor: positions of another catalogue mean nothing in this one.
    let key = |(place, _): &(usize, _)| format!("{:010}-{place:08}", found.version);
    let page = paging::cut(numbered, key, &wanted);
    let items = page.items.into_iter().map(|(_, raw)| CatalogueItem {
        kind,
        definition: serde_json::from_str(raw.get()).unwrap_or_default(),
    });
    Ok(Page {
        items: items.collect(),
        next_cursor: page.next_cursor,
    })
}
