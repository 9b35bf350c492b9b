//! What one principal sees of one agent through one endpoint, composed once per policy epoch.

mod catalogued;
mod compose;
mod details;
mod endpoint;
mod former;
mod lists;
mod skills;
mod today;

pub use catalogued::Catalogued;
pub use compose::View;
pub use details::Mirrored;
pub use endpoint::{AgentRef, Scope, ViewKey};
pub use skills::OfferedSkill;

pub(crate) use compose::compose;
pub(crate) use today::{Today, revoked};
