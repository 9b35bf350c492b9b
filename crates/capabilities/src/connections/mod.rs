//! Connections: the MCP servers of a workspace. No operation here takes a command: those come from the operator's configuration.

mod account;
mod add;
mod catalogue;
mod check;
mod definitions;
mod settings;
mod shown;
mod sign_in;
mod status;
mod update;

use domain::{Effect, Risk, Surface};
use gateway::capability::{Action, Capability, Declaration, Method};

const SURFACES: &[Surface] = &[Surface::Api, Surface::Mcp, Surface::Cli];

/// What the reading ones share.
const READ: Declaration = Declaration {
    id: "connections.show",
    title: "Show a connection",
    description: "Shows a connection: its settings, whether it works, and what it was last seen to offer. Never its secrets.",
    method: Method::Get,
    path: "/connections/{connection}",
    success: 200,
    paged: false,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: SURFACES,
    action: Action::Read,
    command: None,
};

/// What the changing ones share.
const CHANGE: Declaration = Declaration {
    id: "connections.add",
    title: "Add a connection",
    description: "Adds a remote MCP server and discovers what it offers in the background. Its tools land unclassified and on no \
                  grant. Commands cannot be added here: they come from the operator's configuration.",
    method: Method::Post,
    path: "/connections",
    success: 201,
    paged: false,
    idempotent: true,
    risk: Risk::High,
    effect: Effect::Mutating,
    surfaces: SURFACES,
    action: Action::Administer,
    command: None,
};

pub(crate) fn capabilities() -> Vec<Capability> {
    let mut all = vec![add::capability(), update::capability(), status::capability()];
    all.extend(shown::capabilities());
    all.extend(check::capabilities());
    all.extend(catalogue::capabilities());
    all.extend(definitions::capabilities());
    all.extend(sign_in::capabilities());
    all
}
