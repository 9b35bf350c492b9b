//! The built-in capabilities, one folder per area. Each is declared once; every surface is made from the declaration.
//!
//! Handlers take identities from their context and never from their input, and change nothing but through the store's recorded
//! changes. They know the gateway; the gateway does not know them.

mod agents;
mod approvals;
mod clients;
mod connections;
mod convert;
mod find;
mod grants;
mod keys;
mod members;
mod paging;
mod phone;
mod record;
mod skills;
mod system;
mod tools;

use gateway::capability::{Registry, RegistryError};

/// Every capability of this release. Needs nothing: what a handler works with comes with each call.
///
/// # Errors
/// When two declarations collide; a test holds that they do not.
pub fn registry() -> Result<Registry, RegistryError> {
    let areas = [
        agents::capabilities(),
        keys::capabilities(),
        members::capabilities(),
        clients::capabilities(),
        connections::capabilities(),
        tools::capabilities(),
        grants::capabilities(),
        approvals::capabilities(),
        record::capabilities(),
        phone::capabilities(),
        skills::capabilities(),
        system::capabilities(),
    ];
    Registry::new(areas.into_iter().flatten().collect())
}
