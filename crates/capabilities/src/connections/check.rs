//! Tests and refreshes: both list what a server offers, neither runs a tool.

use api::connections::{CatalogueChanges, CatalogueCounts, ConnectionQuery, ConnectionReport};
use domain::Effect;
use gateway::capability::{Action, Capability, Context, Declaration, Failure, FailureKind, Method};

use super::{CHANGE, shown};
use crate::find;

const TEST: Declaration = Declaration {
    id: "connections.test",
    title: "Test a connection",
    description: "Connects, lists what the server offers and says what it saw. No tool is run.",
    path: "/connections/{connection}/test",
    success: 200,
    idempotent: false,
    risk: domain::Risk::Medium,
    ..CHANGE
};

const REFRESH: Declaration = Declaration {
    id: "connections.refresh",
    title: "Refresh a connection",
    description: "Lists again what the server offers. New tools land unclassified and on no grant; changed ones are quarantined.",
    path: "/connections/{connection}/refresh",
    effect: Effect::Mutating,
    action: Action::Administer,
    method: Method::Post,
    ..TEST
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(TEST, |context: Context, query: ConnectionQuery| prepare(context, query)),
        Capability::new(REFRESH, |context: Context, query: ConnectionQuery| prepare(context, query)),
    ]
}

async fn prepare(context: Context, query: ConnectionQuery) -> Result<ConnectionReport, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let done = context.gateway.connections().prepare(context.tenant(), connection.id).await.map_err(|error| {
        Failure::new(FailureKind::Upstream, "connection.not_prepared", error.to_string())
    })?;
    context.gateway.refresh(context.tenant()).await?;
    let now = find::connection(&context, &query.connection)?;
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let names = |names: Vec<std::sync::Arc<str>>| names.iter().map(ToString::to_string).collect();
    Ok(ConnectionReport {
        connection: shown::of(&now),
        counts: CatalogueCounts {
            tools: count(done.tools),
            prompts: count(done.prompts),
            resources: count(done.resources),
            resource_templates: count(done.templates),
        },
        changes: CatalogueChanges {
            added: names(done.added),
            changed: names(done.changed),
            gone: names(done.gone),
            unusable: names(done.unusable),
        },
        problems: done.problems,
        duration_ms: u64::try_from(done.duration.as_millis()).unwrap_or(u64::MAX),
    })
}
