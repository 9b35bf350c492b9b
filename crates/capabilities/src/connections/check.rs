//! Tests and refreshes: both list what a server offers, neither runs a tool.

use ::connections::{ConnectionError, TestReport};
use api::connections::{CatalogueChanges, CatalogueCounts, Connection, ConnectionQuery, ConnectionReport};
use domain::Effect;
use gateway::capability::{Capability, Context, Declaration, Failure, Method};

use super::{CHANGE_OWN, shown};
use crate::find;

const TEST: Declaration = Declaration {
    id: "connections.test",
    title: "Test a connection",
    description: "Connects, lists what the server offers and says what it saw. No tool is run.",
    path: "/connections/{connection}/test",
    success: 200,
    idempotent: false,
    risk: domain::Risk::Medium,
    ..CHANGE_OWN
};

const REFRESH: Declaration = Declaration {
    id: "connections.refresh",
    title: "Refresh a connection",
    description: "Lists again what the server offers. New tools land unclassified and on no grant; changed ones are quarantined.",
    path: "/connections/{connection}/refresh",
    effect: Effect::Mutating,
    method: Method::Post,
    ..TEST
};

const QUEUE: Declaration = Declaration {
    id: "connections.queue_refresh",
    title: "Queue a refresh of a connection",
    description: "Lists what the server offers again, in the background, and answers at once. The connection says how it went.",
    path: "/connections/{connection}/refreshes",
    success: 202,
    idempotent: true,
    command: Some("connections queue-refresh"),
    ..REFRESH
};

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(TEST, test),
        Capability::new(REFRESH, refresh),
        Capability::new(QUEUE, queue),
    ]
}

async fn queue(context: Context, query: ConnectionQuery) -> Result<Connection, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let connections = context.gateway.connections();
    // A server that is switched off is not reached, not even to look what it has.
    if connection.enabled {
        connections.schedule(context.tenant(), connection.id);
    }
    shown::one(&context, &connection).await
}

async fn test(context: Context, query: ConnectionQuery) -> Result<ConnectionReport, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let connections = context.gateway.connections();
    let report = connections.test(context.tenant(), connection.id).await;
    told(&context, &query, report).await
}

async fn refresh(context: Context, query: ConnectionQuery) -> Result<ConnectionReport, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let connections = context.gateway.connections();
    let report = connections.refresh(context.tenant(), connection.id).await;
    told(&context, &query, report).await
}

/// A server that cannot be used is an answer, not an error: the report says why.
async fn told(
    context: &Context,
    query: &ConnectionQuery,
    report: Result<TestReport, ConnectionError>,
) -> Result<ConnectionReport, Failure> {
    let report = report.map_err(|error| Failure::from(&error))?;
    context.gateway.refresh(context.tenant()).await?;
    let now = find::connection(context, &query.connection)?;
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let seen = report.seen.as_ref();
    let tools = seen.map(|seen| seen.tools).unwrap_or_default();
    let (prompts, resources, templates) = seen.map(|seen| seen.contexts).unwrap_or_default();
    Ok(ConnectionReport {
        ok: report.ok,
        failure: report.failure.clone(),
        connection: shown::one(context, &now).await?,
        server: seen.map(|seen| format!("{} {}", seen.server.0, seen.server.1)),
        counts: CatalogueCounts {
            tools: count(tools.listed),
            prompts: count(prompts),
            resources: count(resources),
            resource_templates: count(templates),
            skills: count(seen.map_or(0, |seen| seen.skills)),
        },
        changes: CatalogueChanges {
            added: count(tools.added),
            changed: count(tools.changed),
            gone: count(tools.gone),
            unusable: count(tools.unusable),
        },
        problems: seen.map(|seen| seen.problems.clone()).unwrap_or_default(),
        lines: report.lines.into_iter().map(|line| line.text).collect(),
        duration_ms: u64::try_from(report.took.as_millis()).unwrap_or(u64::MAX),
    })
}
