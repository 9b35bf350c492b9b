//! Which endpoint a request came to.

use domain::{Channel, Handle, Namespace, Principal};
use gateway::{AgentRef, Failure, FailureKind, Scope, ViewKey};

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// An agent's tools: all, or those of one connection.
    Agent(AgentRef, Scope),
    /// The capabilities of operators.
    Operator,
}

impl Place {
    /// The endpoint a path names, for this principal.
    pub(super) fn of(
        principal: &Principal,
        agent: Option<&str>,
        connection: Option<&str>,
    ) -> Result<Self, Failure> {
        let agent = match agent {
            Some(named) => agent_ref(named).ok_or_else(|| Failure::not_found("agent"))?,
            None if principal.bound_agent().is_some() => AgentRef::Bound,
            None => {
                let detail = "this key belongs to no agent; name one in the path: /mcp/{agent}, or use /mcp/-/operator";
                return Err(Failure::new(FailureKind::Malformed, "mcp.agent_required", detail));
            }
        };
        let scope = match connection {
            Some(named) => scope_of(named).ok_or_else(|| Failure::not_found("connection"))?,
            None => Scope::All,
        };
        Ok(Self::Agent(agent, scope))
    }

    /// The operators' endpoint. Agents' keys have no business there.
    pub(super) fn operator(principal: &Principal) -> Result<Self, Failure> {
        if principal.is_admin() {
            return Ok(Self::Operator);
        }
        let detail = "this endpoint is for administrators; an agent's key uses /mcp";
        Err(Failure::new(
            FailureKind::Forbidden,
            "mcp.not_an_operator",
            detail,
        ))
    }

    /// The view it shows to a principal.
    pub(super) fn view_key(&self, principal: Principal) -> Option<ViewKey> {
        match self {
            Self::Agent(agent, scope) => Some(ViewKey {
                principal,
                agent: agent.clone(),
                scope: scope.clone(),
                channel: Channel::Mcp,
            }),
            Self::Operator => None,
        }
    }
}

fn agent_ref(named: &str) -> Option<AgentRef> {
    if let Ok(id) = named.parse() {
        return Some(AgentRef::Id(id));
    }
    Handle::new(named).ok().map(AgentRef::Handle)
}

fn scope_of(named: &str) -> Option<Scope> {
    if let Ok(id) = named.parse() {
        return Some(Scope::Connection(id));
    }
    Namespace::new(named).ok().map(Scope::Namespace)
}
