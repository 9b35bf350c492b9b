//! What a workspace has connected, over time: its lifecycle, its catalogue and pinned definitions, and the pool of live sessions.
//!
//! The only way to a server is [`Connections::dispatch`] (and [`Connections::relay`] beside it), which takes the proof that a call was
//! decided and recorded. No function takes a command from a caller: commands come from the operator's configuration alone.

mod account;
mod cleared;
mod commands;
mod connections;
pub mod definition;
mod depth;
mod dispatch;
mod error;
mod event;
pub mod headers;
pub mod import;
mod known;
mod negotiated;
mod options;
mod pool;
mod prepare;
pub mod presentation;
pub mod preset;
pub mod registry;
pub mod schema;
pub mod skill;

pub use account::{Opened, SignInError, SignInOptions, SignedIn, check_signing_key};
pub use cleared::{Cleared, NotCleared};
pub use commands::{CommandTable, SecretSource, StdioSpec};
pub use connections::{Connections, SetupError};
pub use dispatch::{Dispatch, DispatchBody, Dispatched, Relay, SessionKey};
pub use error::ConnectionError;
pub use event::{ConnectionEvent, ConnectionEventKind};
pub use options::{Limits, Options};
pub use pool::{LiveFacts, ServerLine, ServerLineSource};
pub use prepare::{Preparation, TestReport, ToolCounts};
