//! The server itself: the time, and reading the configuration again.

mod reload;
mod time;

use gateway::Capability;

pub(crate) fn capabilities() -> Vec<Capability> {
    vec![time::capability(), reload::capability()]
}
