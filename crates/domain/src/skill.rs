//! Skills of a workspace: instructions for doing something with certain tools. They hold text and nothing that runs.

use std::sync::Arc;

use crate::{MemberId, SkillId, Timestamp};

/// What a skill needs of one server. Servers are known by their preset, never by a label or an id: both are a person's to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillNeed {
    /// The preset of the server, by its present id.
    pub preset: Arc<str>,
    /// Which variant of it; none where any will do.
    pub variant: Option<Arc<str>>,
    /// The tools, by their upstream names.
    pub tools: Vec<Arc<str>>,
}

/// A skill of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its id.
    pub id: SkillId,
    /// What it is called; unique in the workspace, archived ones included, and fixed.
    pub slug: Arc<str>,
    /// Its title, for people.
    pub title: String,
    /// When to use it.
    pub description: String,
    /// The instructions, Markdown.
    pub body: String,
    /// The servers it needs; empty for one that needs none.
    pub requires: Vec<SkillNeed>,
    /// The member it was installed for; none where it is the workspace's.
    pub owner: Option<MemberId>,
    /// Put away: kept, and offered to nobody.
    pub archived: bool,
    /// Grows by one with each change; updates name the version they saw.
    pub version: u32,
    /// When it was installed.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Skill {
    /// Longest title, in characters.
    pub const MAX_TITLE: usize = 120;
    /// Most servers one needs.
    pub const MAX_NEEDS: usize = 8;
    /// Most tools it needs of one server.
    pub const MAX_TOOLS: usize = 32;
    /// Longest description, in characters (Agent Skills specification).
    pub const MAX_DESCRIPTION: usize = 1_024;
    /// Most bytes of instructions.
    pub const MAX_BODY: usize = 256 * 1024;

    /// Whether a text can name a skill (Agent Skills specification): at most 64 of `a-z`, `0-9` and single hyphens in between.
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=64).contains(&text.len())
            && text.bytes().all(legal)
            && !text.starts_with('-')
            && !text.ends_with('-')
            && !text.contains("--")
    }
}

#[cfg(test)]
mod tests {
    use super::Skill;

    #[test]
    fn names() {
        for (text, fits) in [
            ("accommodation-shortlist", true),
            ("a", true),
            ("x1-2", true),
            ("", false),
            ("-a", false),
            ("a-", false),
            ("a--b", false),
            ("A", false),
            ("a.b", false),
            ("a/b", false),
            ("..", false),
            ("index.json", false),
        ] {
            assert_eq!(Skill::is_name(text), fits, "{text:?}");
        }
        assert!(Skill::is_name(&"a".repeat(64)) && !Skill::is_name(&"a".repeat(65)));
    }
}
