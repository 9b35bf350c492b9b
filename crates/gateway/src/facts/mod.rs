//! What is known about a workspace, in memory: read once per change, looked at by every call without a lock or a query.

mod load;
mod renamed;
mod tools;
mod workspace;

pub use workspace::{KnownFacts, Workspace};

pub(crate) use tools::{Imported, KnownTool};
