//! Skills (SEP-2640): what a server lists, held to the specification, and files held to what was listed.
//!
//! A skill is text for models. Nothing in one is ever run, its frontmatter gives nobody anything, and one that brings code along is not
//! loaded at all.

mod frontmatter;
mod manifest;
mod read;
mod verify;

#[cfg(test)]
mod tests;

pub use frontmatter::{FrontmatterError, frontmatter};
pub use manifest::{Skill, SkillFile, Unsupported};
pub use read::Malformed;
pub use verify::{Mismatch, resource_text};

/// Files of one skill.
pub const MAX_FILES: usize = 256;
/// Bytes of one file that is loaded.
pub const MAX_FILE_BYTES: u64 = 256 * 1024;
