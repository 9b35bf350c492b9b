//! Live sessions: opened once however many ask, shared as configured, bounded, and gone when their owner is.

mod ears;
mod lease;
mod line;
mod live;
mod open;
mod rest;
mod secrets;
mod settings;
mod slot;
mod subscribe;
mod sweep;

pub(crate) use self::lease::{Lease, Turn};
pub(crate) use self::line::Line;
pub(crate) use self::line::lock;
pub use self::line::{LiveFacts, ServerLine, ServerLineSource};
pub(crate) use self::live::Live;
pub(crate) use self::settings::Settings;
pub(crate) use self::settings::{hide, shorten};
pub(crate) use self::slot::Opening;
pub(crate) use self::subscribe::subscribe;
pub(crate) use self::sweep::sweep;
