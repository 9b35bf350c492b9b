//! A folder of skills: `PRESET/SLUG/SKILL.md` (Agent Skills specification), whose frontmatter says also what is required.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use api::skills::{AddSkill, SkillNeed};
use connections::skill::{MAX_FILE_BYTES, frontmatter};
use serde_json::{Map, Value};

/// The skills of a folder by slug, or those that need a server of this preset.
///
/// # Errors
/// When the folder or one of its skills cannot be read: half a catalogue would pass for a whole one.
pub(super) fn read(folder: &Path, preset: Option<&str>) -> anyhow::Result<Vec<AddSkill>> {
    let preset =
        preset.map(|named| connections::preset::find(named).map_or(named, |found| found.id.as_str()));
    let mut found = Vec::new();
    for group in folders(folder)? {
        for place in folders(&group)? {
            let path = place.join("SKILL.md");
            let skill = skill(&path).with_context(|| path.display().to_string())?;
            if place.file_name().is_none_or(|name| *name != *skill.slug) {
                bail!("{}: its name is not that of its folder", path.display());
            }
            let wanted = |wanted: &str| skill.requires.iter().any(|need| need.preset == wanted);
            if preset.is_none_or(wanted) {
                found.push(skill);
            }
        }
    }
    found.sort_by(|one, other| one.slug.cmp(&other.slug));
    Ok(found)
}

fn folders(within: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let shown = within.display();
    let mut found = Vec::new();
    for entry in fs::read_dir(within).with_context(|| format!("cannot read the folder {shown}"))? {
        let entry = entry.with_context(|| format!("cannot read the folder {shown}"))?;
        // A link could lead anywhere.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn skill(path: &Path) -> anyhow::Result<AddSkill> {
    let mut text = String::new();
    File::open(path)?
        .take(MAX_FILE_BYTES.saturating_add(1))
        .read_to_string(&mut text)?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        bail!("it is longer than {MAX_FILE_BYTES} bytes");
    }
    let (head, instructions) = frontmatter(&text)?;
    let required = |name: &str| word(&head, name).with_context(|| format!("its frontmatter has no {name}"));
    let requires: Vec<SkillNeed> = match head.get("requires") {
        Some(given) => serde_json::from_value(given.clone()).context("its `requires` cannot be read")?,
        None => Vec::new(),
    };
    Ok(AddSkill {
        slug: required("name")?,
        title: word(&head, "title"),
        description: required("description")?,
        instructions: instructions.trim().to_owned(),
        requires,
        owner: None,
    })
}

fn word(head: &Map<String, Value>, name: &str) -> Option<String> {
    head.get(name).and_then(Value::as_str).map(str::to_owned)
}
