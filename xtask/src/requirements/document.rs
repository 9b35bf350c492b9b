//! The rows of `docs/requirements.md`.

use anyhow::Context;

/// One row: what must hold, and the issues that bring it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) id: String,
    pub(super) issues: Vec<u8>,
    pub(super) text: String,
}

/// Reads the table rows whose first cell is an id: `| V155 | 1, 4 | Text. |`.
///
/// # Errors
/// Names the row that has no issues or text cell, or the id that stands there twice.
pub(super) fn parse(document: &str) -> anyhow::Result<Vec<Requirement>> {
    let mut found: Vec<Requirement> = Vec::new();
    for row in document.lines() {
        if let Some(requirement) = parse_row(row).with_context(|| format!("in the row {row:?}"))? {
            anyhow::ensure!(
                found.iter().all(|other| other.id != requirement.id),
                "docs/requirements.md has {} twice",
                requirement.id
            );
            found.push(requirement);
        }
    }
    anyhow::ensure!(!found.is_empty(), "docs/requirements.md has no requirements");
    Ok(found)
}

fn parse_row(row: &str) -> anyhow::Result<Option<Requirement>> {
    let Some(cells) = row
        .strip_prefix('|')
        .and_then(|rest| rest.trim_end().strip_suffix('|'))
    else {
        return Ok(None);
    };
    let mut cells = cells.splitn(3, '|').map(str::trim);
    let Some(id) = cells.next().filter(|id| is_id(id)) else {
        return Ok(None);
    };
    let issues = cells.next().context("there is no cell for the issues")?;
    let issues = issues.split(',').map(str::trim).filter(|issue| !issue.is_empty());
    let issues = issues
        .map(str::parse)
        .collect::<Result<_, _>>()
        .context("an issue is not a number")?;
    let text = cells
        .next()
        .filter(|text| !text.is_empty())
        .context("there is no text")?;
    Ok(Some(Requirement {
        id: id.to_owned(),
        issues,
        text: text.to_owned(),
    }))
}

/// Whether a word has the form of an id: V, I, O or X and three digits, or C and two.
pub(super) fn is_id(word: &str) -> bool {
    let mut characters = word.chars();
    let digits = match characters.next() {
        Some('V' | 'I' | 'O' | 'X') => 3,
        Some('C') => 2,
        _ => return false,
    };
    characters.clone().count() == digits && characters.all(|character| character.is_ascii_digit())
}
