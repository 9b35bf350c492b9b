//! Calls people and programs make to administer Switchboard: capabilities on the api, mcp and cli surfaces.

use domain::{Call, Effect, Epoch, Reason, ReasonCode, Risk, Surface};

use crate::{Decision, Denial, Permit};

/// Which credentials may use a capability on an operator's surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Members and admin keys.
    Admin,
    /// Those, and an agent-bound key for its own agent.
    Agent,
    /// Answers an approval: members and admin keys; never an agent, whatever else changes.
    Approval,
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
    /// The policy epoch.
    pub epoch: Epoch,
}

/// Decides an operator's call of a capability. Never asks.
#[must_use]
pub fn decide_operator(call: Call, facts: &OperatorFacts<'_>) -> Decision {
    let OperatorFacts {
        capability,
        surface,
        epoch,
    } = *facts;
    let CapabilityFact {
        surfaces,
        access,
        risk,
        effect,
    } = capability;
    let code = verdict(&call, surfaces, access, surface);
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

fn verdict(call: &Call, surfaces: &[Surface], access: Access, surface: Surface) -> ReasonCode {
    // An agent's own tools are decided in a snapshot; there is no way around it through here.
    if matches!(surface, Surface::Agent) || !surfaces.contains(&surface) {
        return ReasonCode::Surface;
    }
    if call.principal.is_admin() {
        return ReasonCode::RoleAllows;
    }
    let own = call
        .principal
        .bound_agent()
        .is_some_and(|bound| call.agent.is_none_or(|named| named == bound));
    match access {
        Access::Agent if own => ReasonCode::RoleAllows,
        Access::Agent | Access::Admin | Access::Approval => ReasonCode::RoleDenies,
    }
}
