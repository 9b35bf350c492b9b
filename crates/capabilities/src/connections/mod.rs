//! Connections: the MCP servers of a workspace. No operation here takes a command: those come from the operator's configuration.

mod account;
mod add;
mod catalogue;
mod check;
mod context;
mod definitions;
mod presets;
mod registry;
mod settings;
mod shown;
mod sign_in;
mod status;
mod update;
mod verify;

use domain::{Effect, Risk, Surface};
use gateway::capability::{Action, Capability, Declaration, Method};

const SURFACES: &[Surface] = &[Surface::Api, Surface::Mcp, Surface::Cli];
/// Of those that an agent may have of its own.
const OWN: &[Surface] = &[Surface::Api, Surface::Mcp, Surface::Cli, Surface::Compatible];

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

/// What those share that look at what can be one agent's own.
const READ_OWN: Declaration = Declaration {
    surfaces: OWN,
    action: Action::Own,
    ..READ
};

/// What those share that change what can be one agent's own.
const CHANGE_OWN: Declaration = Declaration {
    surfaces: OWN,
    action: Action::Own,
    ..CHANGE
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
    let mut all = vec![
        add::capability(),
        update::capability(),
        status::capability(),
        presets::capability(),
        registry::capability(),
        verify::capability(),
    ];
    all.extend(shown::capabilities());
    all.extend(check::capabilities());
    all.extend(catalogue::capabilities());
    all.extend(definitions::capabilities());
    all.extend(sign_in::capabilities());
    all
}
