//! Results that count only if they hold: what does not is neither passed on nor digested into the record as a success.

use std::sync::Arc;

use connections::skill::{Mismatch, Skill, resource_text};
use domain::OutcomeCode;

use super::ReplyBody;
use super::dispatch::{Finished, failed};
use crate::prompt;

/// What a result is held to.
#[derive(Debug, Clone)]
pub(crate) enum Held {
    /// A file of a skill, to the manifest the skill was loaded by.
    File { skill: Arc<Skill>, uri: Arc<str> },
    /// A resource, to being text of at most so many bytes.
    Text { uri: Arc<str>, limit: u64 },
    /// A prompt, to being messages with roles.
    Prompt,
}

impl Held {
    pub(super) fn check(&self, finished: Finished) -> Finished {
        let raw = match &finished.body {
            ReplyBody::Result(raw) => raw,
            ReplyBody::InputRequired(_) => {
                let why = "the server asks for input, which what is loaded as context is not given";
                return failed(OutcomeCode::UpstreamInvalid, why);
            }
            ReplyBody::Error(_) | ReplyBody::Notice(_) | ReplyBody::Approval(_) => return finished,
        };
        let wrong = match self {
            Self::File { skill, uri } => match skill.file(uri) {
                Some(file) => skill.verify(file, raw).err().map(told),
                None => Some((
                    OutcomeCode::UpstreamInvalid,
                    "the skill has no such file".to_owned(),
                )),
            },
            Self::Text { uri, limit } => resource_text(raw, uri, *limit).err().map(told),
            Self::Prompt => prompt::read(raw)
                .err()
                .map(|why| (OutcomeCode::UpstreamInvalid, why.to_owned())),
        };
        match wrong {
            Some((code, why)) => failed(code, &why),
            None => finished,
        }
    }
}

fn told(mismatch: Mismatch) -> (OutcomeCode, String) {
    let code = match &mismatch {
        Mismatch::TooLarge { .. } => OutcomeCode::TooLarge,
        Mismatch::NoContent { .. }
        | Mismatch::NotAsked
        | Mismatch::Binary
        | Mismatch::Size { .. }
        | Mismatch::Digest
        | Mismatch::Frontmatter(_)
        | Mismatch::OtherFrontmatter => OutcomeCode::UpstreamInvalid,
    };
    (code, mismatch.to_string())
}
