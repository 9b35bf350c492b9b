//! Definitions that changed after they were pinned: shown as a difference, accepted by a person.

use api::Page;
use api::connections::{AcceptDefinition, ChangesQuery, DefinitionChange, Difference};
use api::tools::Tool;
use domain::{DefinitionState, ToolRef};
use gateway::capability::{Capability, Context, Declaration, Failure, Method};
use store::ToolPin;

use super::{CHANGE, READ};
use crate::{find, paging, tools};

const CHANGES: Declaration = Declaration {
    id: "connections.changes",
    title: "Show changed definitions",
    description: "Shows which tools are quarantined because their server changed them, and exactly what differs.",
    path: "/connections/{connection}/changes",
    paged: true,
    ..READ
};

const ACCEPT: Declaration = Declaration {
    id: "connections.accept",
    title: "Accept a changed definition",
    description: "Accepts a tool's changed definition: exactly the one whose digest was looked at.",
    method: Method::Post,
    path: "/connections/{connection}/tools/{tool}/accept",
    success: 200,
    idempotent: false,
    ..CHANGE
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![Capability::new(CHANGES, changes), Capability::new(ACCEPT, accept)]
}

async fn changes(context: Context, query: ChangesQuery) -> Result<Page<DefinitionChange>, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let pins = context
        .store()
        .list_pins(context.tenant(), Some(connection.id))
        .await?;
    let changed: Vec<DefinitionChange> = pins
        .iter()
        .filter(|pin| pin.state == DefinitionState::Quarantined)
        .filter_map(change)
        .collect();
    let page = paging::cut(
        "changes",
        changed,
        |c| c.tool.clone(),
        &paging::request(query.cursor, query.limit),
    )?;
    Ok(paging::page(page, |change| change))
}

fn change(pin: &ToolPin) -> Option<DefinitionChange> {
    let (pinned, offered) = (pin.accepted.as_ref()?, pin.seen.as_ref()?);
    let differences = ::connections::definition::difference(&pinned.raw, &offered.raw);
    Some(DefinitionChange {
        tool: pin.name.to_string(),
        pinned_digest: pinned.digest.to_string(),
        offered_digest: offered.digest.to_string(),
        differences: differences
            .into_iter()
            .map(|d| Difference {
                path: d.pointer,
                pinned: d.old,
                offered: d.new,
            })
            .collect(),
    })
}

async fn accept(context: Context, input: AcceptDefinition) -> Result<Tool, Failure> {
    let connection = find::connection(&context, &input.connection)?;
    let digest = input
        .digest
        .parse()
        .map_err(|_| Failure::field("digest", "a digest has 64 hexadecimal digits"))?;
    let change = find::change(&context, ACCEPT.id);
    let connections = context.gateway.connections();
    let accepted = connections
        .accept((context.tenant(), &change), connection.id, &input.tool, digest)
        .await;
    let pin = accepted.map_err(|error| Failure::from(&error))?;
    context.gateway.refresh(context.tenant()).await?;
    let tool = ToolRef::Upstream {
        connection: connection.id,
        name: pin.name,
    };
    tools::shown(&*find::workspace(&context)?, &tool).ok_or_else(|| Failure::not_found("tool").at("tool"))
}
