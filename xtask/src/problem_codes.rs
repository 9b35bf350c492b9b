//! Holds `docs/errors.md` to the problem codes that stand in the code.

use std::collections::BTreeSet;

use crate::workspace::Workspace;

/// Where problems are made.
const HOMES: &[&str] = &[
    "crates/gateway/src",
    "crates/capabilities/src",
    "crates/server/src",
];
/// What stands shortly before the code of a problem.
const BEFORE: &[&str] = &[
    "FailureKind::",
    "malformed(",
    "StatusCode::",
    "client_error() =>",
    "_ => (",
    "refuse(",
];
/// How far before.
const NEAR: usize = 120;

/// Codes of the code that the document lacks, and codes of the document that the code lacks.
fn differences(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let document = std::fs::read_to_string(workspace.path("docs/errors.md"))?;
    let documented: BTreeSet<&str> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let sources = workspace.sources(HOMES, &["rs"])?;
    let mut used = BTreeSet::new();
    let mut mentioned = BTreeSet::new();
    for source in &sources {
        for (at, literal) in literals(&source.text) {
            if is_code(literal) {
                mentioned.insert(literal);
                let start = source.text.floor_char_boundary(at.saturating_sub(NEAR));
                let lead = source.text.get(start..at).unwrap_or_default();
                if BEFORE.iter().any(|before| lead.contains(before)) {
                    used.insert(literal);
                }
            }
        }
    }
    let undocumented = used.iter().filter(|code| !documented.contains(**code));
    let unused = documented.iter().filter(|code| !mentioned.contains(**code));
    Ok(undocumented
        .map(|code| format!("`{code}` is not in docs/errors.md"))
        .chain(unused.map(|code| format!("`{code}` of docs/errors.md is in no source")))
        .collect())
}

/// String literals without escapes, with their places.
fn literals(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('"').filter_map(move |(at, _)| {
        let (literal, _) = text.get(at + 1..)?.split_once('"')?;
        Some((at, literal))
    })
}

/// `area.reason`.
fn is_code(literal: &str) -> bool {
    literal.split_once('.').is_some_and(|(area, reason)| {
        let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        word(area) && word(reason)
    })
}

#[test]
fn every_problem_code_is_documented_and_every_documented_one_exists() {
    let found = differences(&Workspace::here()).unwrap();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn codes_are_told_from_other_text() {
    for (literal, code) in [
        ("input.invalid", true),
        ("a.b.c", false),
        ("Input.x", false),
        ("x.", false),
        ("plain", false),
    ] {
        assert_eq!(is_code(literal), code, "{literal}");
    }
}
