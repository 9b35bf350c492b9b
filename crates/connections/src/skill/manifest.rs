//! A skill as its server lists it: what it is for, and every file of it with its digest.

use std::sync::Arc;

use domain::Digest;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Its resource URI.
    pub uri: Arc<str>,
    /// Where it lies in the skill, as `references/forms.md`.
    pub path: Arc<str>,
    /// The SHA-256 digest of its bytes.
    pub digest: Digest,
    /// Its length in bytes, where the server says it.
    pub size: Option<u64>,
}

/// Why a well-formed skill is not loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// Its content is made anew each time, so that nothing can be verified.
    #[error("its files are generated when they are read and cannot be verified")]
    Dynamic,
    /// It brings code along.
    #[error("it is not instructions alone: {path:?} is code")]
    Code {
        /// The file.
        path: Arc<str>,
    },
    /// It asks to be run in a certain way.
    #[error("it is not instructions alone: its frontmatter declares {key:?}")]
    Declares {
        /// The key of the frontmatter.
        key: Arc<str>,
    },
    /// A file is too large.
    #[error("{path:?} has {size} bytes, more than the {limit} that are loaded")]
    TooLarge {
        /// The file.
        path: Arc<str>,
        /// Its size.
        size: u64,
        /// The most there may be.
        limit: u64,
    },
}

/// A skill of a server.
#[derive(Debug, Clone)]
pub struct Skill {
    /// The URI of its `SKILL.md`, by which the server knows it.
    pub uri: Arc<str>,
    /// Its name. A label: two skills of one server may share it.
    pub name: Arc<str>,
    /// When to use it.
    pub description: Arc<str>,
    /// The frontmatter as the server lists it.
    pub frontmatter: Map<String, Value>,
    /// Its files in order of URI; the `SKILL.md` is one of them. None of a skill whose files are generated.
    pub files: Vec<SkillFile>,
    /// The digest of URI, frontmatter and files: what an approval is bound to.
    pub manifest: Digest,
    /// Why it is not loaded, if so.
    pub unsupported: Option<Unsupported>,
    /// The entry as the server sent it.
    pub raw: Arc<RawValue>,
}

impl Skill {
    /// The file with this URI.
    #[must_use]
    pub fn file(&self, uri: &str) -> Option<&SkillFile> {
        self.files.iter().find(|file| &*file.uri == uri)
    }

    /// The file at this place in the skill. The place is looked up, never computed with: `..` and the like are no places.
    #[must_use]
    pub fn file_at(&self, path: &str) -> Option<&SkillFile> {
        let path = path.strip_prefix("./").unwrap_or(path);
        self.files.iter().find(|file| &*file.path == path)
    }
}
