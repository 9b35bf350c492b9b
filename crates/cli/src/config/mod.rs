//! The operator's configuration: read here and nowhere else.

mod connections;
mod load;
mod resolve;
mod secret;
mod settings;

pub(crate) use connections::{CommandEntry, EnvValue};
pub(crate) use load::{Flags, load};
pub(crate) use resolve::{Problem, rules};
pub(crate) use secret::{SecretRef, SecretSource};
pub(crate) use settings::{Config, Durability, InternalUrl, LogFormat, RuleEntry, StoreBackend};
