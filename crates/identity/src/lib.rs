//! Who is acting: API keys, checked in memory and in constant time. Produces [`domain::Principal`]s. Knows no HTTP.

mod key;
mod keys;

pub use key::{KeyText, KeyTextError};
pub use keys::{CreatedKey, IdentityError, Keys, given_key, new_key};
