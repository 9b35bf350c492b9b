//! What a server says about one tool: read without changing a byte, told apart by a digest, compared for a person.

mod difference;
mod read;
mod rename;

#[cfg(test)]
mod tests;

pub use self::difference::{Change, ChangeKind, difference};
pub use self::read::{Malformed, Tool};
pub use self::rename::rename;
