//! Holding what a server sends to what it listed.

use std::borrow::Cow;

use domain::Digest;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{FrontmatterError, MAX_FILE_BYTES, Skill, SkillFile, frontmatter};

/// Why what a server sent is not used. Says nothing of the content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It is no result of `resources/read`.
    #[error("the answer holds no content of {uri:?}")]
    NoContent {
        /// What was asked for.
        uri: String,
    },
    /// It holds something that was not asked for.
    #[error("the answer holds content that was not asked for")]
    NotAsked,
    /// It is not text.
    #[error("it is binary, and only text is loaded")]
    Binary,
    /// It is too long.
    #[error("it has {size} bytes, more than the {limit} that are loaded")]
    TooLarge {
        /// Its size.
        size: u64,
        /// The most there may be.
        limit: u64,
    },
    /// It is longer or shorter than the manifest says.
    #[error("it has {size} bytes, and the manifest it was loaded by says {listed}; load the skill again")]
    Size {
        /// Its size.
        size: u64,
        /// What the manifest says.
        listed: u64,
    },
    /// Its bytes are others than the manifest says.
    #[error("its digest is not the one in the manifest it was loaded by; load the skill again")]
    Digest,
    /// It is no `SKILL.md`.
    #[error("the SKILL.md is not valid: {0}")]
    Frontmatter(#[from] FrontmatterError),
    /// It says something else about itself than the listing did.
    #[error("the frontmatter of the SKILL.md is not the one its server lists")]
    OtherFrontmatter,
}

#[derive(Deserialize)]
struct Contents<'a> {
    #[serde(borrow)]
    contents: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    uri: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    blob: Option<&'a RawValue>,
}

/// The text of the resource that was asked for, in the result of `resources/read`.
///
/// # Errors
/// There is none, there is more than it, it is binary, or it has more than `limit` bytes.
pub fn resource_text(result: &RawValue, uri: &str, limit: u64) -> Result<String, Mismatch> {
    let none = || Mismatch::NoContent { uri: uri.to_owned() };
    let read: Contents<'_> = serde_json::from_str(result.get()).map_err(|_| none())?;
    let [only] = read.contents.as_slice() else {
        return Err(if read.contents.is_empty() {
            none()
        } else {
            Mismatch::NotAsked
        });
    };
    let content: Content<'_> = serde_json::from_str(only.get()).map_err(|_| none())?;
    if content.uri != uri {
        return Err(Mismatch::NotAsked);
    }
    let text = match (content.text, content.blob) {
        (Some(text), None) => text,
        (_, Some(_)) => return Err(Mismatch::Binary),
        (None, None) => return Err(none()),
    };
    let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if size > limit {
        return Err(Mismatch::TooLarge { size, limit });
    }
    Ok(text.into_owned())
}

impl Skill {
    /// The text of a file, provided it is byte for byte what the manifest says and, for the `SKILL.md`, says of itself what was listed.
    ///
    /// # Errors
    /// [`Mismatch`]; nothing of the answer is to be used then.
    pub fn verify(&self, file: &SkillFile, result: &RawValue) -> Result<String, Mismatch> {
        let text = resource_text(result, &file.uri, MAX_FILE_BYTES)?;
        let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
        if let Some(listed) = file.size.filter(|listed| *listed != size) {
            return Err(Mismatch::Size { size, listed });
        }
        if Digest::of(text.as_bytes()) != file.digest {
            return Err(Mismatch::Digest);
        }
        if file.uri == self.uri && frontmatter(&text)?.0 != self.frontmatter {
            return Err(Mismatch::OtherFrontmatter);
        }
        Ok(text)
    }
}
