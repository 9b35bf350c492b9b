//! A capability: a built-in operation, declared once, from which every surface is made.

mod context;
mod declaration;
mod failure;
mod registry;
mod work;

pub use context::Context;
pub use declaration::{Action, Capability, Declaration, Method};
pub use failure::{Failure, FailureKind};
pub use registry::{Registry, RegistryError};
pub use work::Carried;
