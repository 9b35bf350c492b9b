//! Who is acting: people, API keys, and MCP clients that people let in; checked in memory and in constant time. Produces
//! [`domain::Principal`]s. Knows no HTTP.

mod key;
mod keys;
pub mod oauth;
mod opaque;
pub mod password;
mod people;
mod sessions;
mod throttle;

pub use key::{KeyText, KeyTextError};
pub use keys::{CreatedKey, IdentityError, Keys, given_key, new_key};
pub use people::{Newcomer, People, Refused, invite, read_email};
pub use sessions::{Begun, Sessions, SignedIn, begin};
pub use throttle::Throttle;
