//! What a handler is given besides its input.

use domain::{AgentId, CallId, Principal, Surface, Tenant, Timestamp};

use store::Store;

use crate::Gateway;

/// The proven circumstances of one capability call. Handlers take identities from here, never from their input.
#[derive(Clone)]
pub struct Context {
    /// The kernel, for what a capability asks of it.
    pub gateway: Gateway,
    /// Who acts.
    pub principal: Principal,
    /// The agent acting, when an agent calls.
    pub agent: Option<AgentId>,
    /// Through which surface.
    pub surface: Surface,
    /// The call, under which changes are recorded.
    pub call: CallId,
    /// The time of the call.
    pub now: Timestamp,
}

impl Context {
    /// The database.
    #[must_use]
    pub fn store(&self) -> &Store {
        self.gateway.store()
    }

    /// Whose data this is about.
    #[must_use]
    pub const fn tenant(&self) -> Tenant {
        self.principal.tenant
    }
}
