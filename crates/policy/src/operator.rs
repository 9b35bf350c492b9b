//! Calls people and programs make to administer Switchboard: capabilities on the api, mcp and cli surfaces.

use domain::{Call, Effect, Epoch, Reason, ReasonCode, Risk, Role, Surface};

use crate::{Decision, Denial, Permit};

/// Which credentials may use a capability on an operator's surface. Who administers: Owners, Admins, admin keys, and Switchboard itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Looks: who administers, Members and Viewers.
    Read,
    /// Administers.
    Admin,
    /// Uses a tool: who administers, Members, and an agent-bound credential for its own agent.
    Agent,
    /// Who administers; on the compatible routes also the key of an agent that a person has claimed, for what is that agent's
    /// own. Which things these are, the capability says by looking at its input.
    Own,
    /// The same to look at, which Members and Viewers may too.
    OwnRead,
    /// Answers an approval: who administers; never an agent, whatever else changes.
    Approval,
    /// Speaks for the workspace in person: an Owner or Admin who signed in. No key does.
    Person,
    /// Lets a program act for oneself: an Owner, Admin or Member who signed in. No key does.
    Consent,
}

/// What is declared about a capability.
#[derive(Debug, Clone, Copy)]
pub struct CapabilityFact<'a> {
    /// Where it exists.
    pub surfaces: &'a [Surface],
    /// Who may use it there.
    pub access: Access,
    /// Its risk; recorded, but operators are not asked to approve their own calls.
    pub risk: Risk,
    /// Whether it changes something.
    pub effect: Effect,
}

/// What is known at the moment of the call.
#[derive(Debug, Clone, Copy)]
pub struct OperatorFacts<'a> {
    /// The capability called.
    pub capability: CapabilityFact<'a>,
    /// The surface it is called on.
    pub surface: Surface,
    /// Whether the agent that the credential is bound to was claimed by a person; true where it is bound to none.
    pub claimed: bool,
    /// The policy epoch.
    pub epoch: Epoch,
}

/// Decides an operator's call of a capability. Never asks.
#[must_use]
pub fn decide_operator(call: Call, facts: &OperatorFacts<'_>) -> Decision {
    let OperatorFacts {
        capability,
        surface,
        claimed,
        epoch,
    } = *facts;
    let CapabilityFact {
        surfaces,
        access,
        risk,
        effect,
    } = capability;
    let code = if surfaces.contains(&surface) {
        verdict(&call, access, surface, claimed)
    } else {
        ReasonCode::Surface
    };
    if matches!(code, ReasonCode::RoleAllows) {
        return Decision::Allow(Permit {
            call,
            reason: Reason::new(code),
            risk,
            effect,
            parallel: matches!(effect, Effect::ReadOnly),
            approval: None,
            epoch,
            snapshot: None,
        });
    }
    Decision::Deny(Denial {
        call,
        reason: Reason::new(code),
        risk,
        effect,
        approval: None,
        epoch,
        snapshot: None,
    })
}

fn verdict(call: &Call, access: Access, surface: Surface, claimed: bool) -> ReasonCode {
    // An agent's own tools are decided in a snapshot; there is no way around it through here.
    if matches!(surface, Surface::Agent) {
        return ReasonCode::Surface;
    }
    let principal = &call.principal;
    let role = principal.role();
    let own = principal
        .bound_agent()
        .is_some_and(|bound| call.agent.is_none_or(|named| named == bound));
    let compatible = matches!(surface, Surface::Compatible);
    let allowed = match access {
        Access::Person => role.is_some_and(Role::administers),
        Access::Consent => role.is_some_and(Role::uses),
        _ if principal.is_admin() => true,
        Access::Read => role.is_some_and(Role::looks),
        Access::Agent => own || role.is_some_and(Role::uses),
        Access::Own | Access::OwnRead if own && !claimed => return ReasonCode::AgentUnclaimed,
        Access::Own => own && compatible,
        Access::OwnRead => own && compatible || role.is_some_and(Role::looks),
        Access::Admin | Access::Approval => false,
    };
    if allowed {
        ReasonCode::RoleAllows
    } else {
        ReasonCode::RoleDenies
    }
}
