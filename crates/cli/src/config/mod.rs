//! The operator's configuration: read here and nowhere else.

mod connections;
mod load;
mod resolve;
mod secret;
mod settings;

pub(crate) use connections::{CommandEntry, EnvValue, Sharing};
pub(crate) use load::{Flags, entries, from_text, load};
pub(crate) use resolve::{Problem, check_entries, rules};
pub(crate) use secret::{SecretRef, SecretSource};
pub(crate) use settings::{Config, Durability, LogFormat, Purpose, RuleEntry, StoreBackend};
