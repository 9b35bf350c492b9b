//! What is going on at a connection: sessions, calls, and what its server writes outside the protocol.

use api::connections::{ConnectionQuery, ConnectionStatus, ServerLine, ServerLineSource};
use connections::ServerLineSource as Source;
use gateway::capability::{Capability, Context, Declaration, Failure};

use super::READ;
use crate::find;

const STATUS: Declaration = Declaration {
    id: "connections.status",
    title: "Show what is going on at a connection",
    description: "Shows open sessions, processes and calls of a connection, how often it had to be opened again, and what its server \
                  wrote lately to standard error or beside the protocol.",
    path: "/connections/{connection}/status",
    ..READ
};

pub(super) fn capability() -> Capability {
    Capability::new(STATUS, status)
}

async fn status(context: Context, query: ConnectionQuery) -> Result<ConnectionStatus, Failure> {
    let connection = find::connection(&context, &query.connection)?;
    let live = context.gateway.connections().live(connection.id);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let lines = live.lines.into_iter().map(|line| ServerLine {
        source: match line.source {
            Source::Stderr => ServerLineSource::Stderr,
            Source::Stdout => ServerLineSource::Stdout,
            Source::Note => ServerLineSource::Note,
        },
        text: line.text,
    });
    Ok(ConnectionStatus {
        sessions: count(live.sessions),
        processes: count(live.processes),
        in_flight: count(live.in_flight),
        restarts: live.restarts,
        unheard: live.unheard,
        lines: lines.collect(),
    })
}
