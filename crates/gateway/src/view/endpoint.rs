//! Which view is wanted.

use domain::{AgentId, Channel, ConnectionId, Handle, Namespace, Principal};

/// The agent a path or credential names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AgentRef {
    /// The agent the credential is bound to.
    Bound,
    /// By handle.
    Handle(Handle),
    /// By id.
    Id(AgentId),
}

/// What part of an agent's tools an endpoint shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All of them, under prefixed names.
    All,
    /// Those of one connection, under their own names; the connection is named by its namespace.
    Namespace(Namespace),
    /// The same, named by id.
    Connection(ConnectionId),
}

/// Which view is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ViewKey {
    /// Who looks.
    pub principal: Principal,
    /// Whose tools.
    pub agent: AgentRef,
    /// Through which endpoint.
    pub scope: Scope,
    /// On which channel.
    pub channel: Channel,
}
