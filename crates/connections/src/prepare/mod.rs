//! Preparing a connection: connect, list everything, keep it, hold the definitions against what people accepted.

mod accept;
mod bound;
mod check;
mod discover;
mod fresh;
mod pace;
mod queue;
mod reconcile;
mod run;
mod schedule;
mod skill;
mod test;

#[cfg(test)]
mod tests;

use std::time::Duration;

use domain::{ConnectionState, Health};
use futures::future::{BoxFuture, Shared};

pub(crate) use self::check::Check;
pub(crate) use self::fresh::Freshness;
pub(crate) use self::pace::Pace;
pub(crate) use self::queue::Preparations;
pub use self::test::TestReport;

use crate::ConnectionError;

/// A preparation that is under way, for everybody who waits for it.
pub(crate) type Preparing = Shared<BoxFuture<'static, Result<Preparation, ConnectionError>>>;

/// What preparing a connection came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    /// Where discovery stands now.
    pub state: ConnectionState,
    /// The health.
    pub health: Health,
    /// What was negotiated, as `2026-07-28 streamable_http`.
    pub negotiated: String,
    /// The server's name and version, as it says.
    pub server: (String, String),
    /// The number of the stored catalogue.
    pub catalogue: u32,
    /// How the tools stand.
    pub tools: ToolCounts,
    /// Prompts, resources and templates kept.
    pub contexts: (usize, usize, usize),
    /// How many skills were listed.
    pub skills: usize,
    /// What was left out, cut or odd, for people. May quote the server.
    pub problems: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// How the tools of a connection stand after a discovery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCounts {
    /// Well-formed tools that are kept.
    pub listed: usize,
    /// Seen for the first time.
    pub added: usize,
    /// Of another definition than the accepted one: quarantined.
    pub changed: usize,
    /// No longer listed.
    pub gone: usize,
    /// With a schema that cannot be compiled.
    pub unusable: usize,
}
