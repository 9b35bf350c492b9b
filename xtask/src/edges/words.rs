//! Words that may stand only in the production code of some crates.

use super::WordHome;
use crate::workspace::Source;

/// Every production line outside the home that contains one of its words; comments do not count.
pub(super) fn violations(home: &WordHome, sources: &[Source]) -> Vec<String> {
    let strays = sources
        .iter()
        .filter(|source| !home.crates.iter().any(|name| name == source.crate_name()));
    strays.flat_map(|source| in_source(home, source)).collect()
}

fn in_source(home: &WordHome, source: &Source) -> Vec<String> {
    let lines = source.production_lines().into_iter().enumerate();
    let wrong = lines.filter_map(|(index, line)| {
        let code = line.split("//").next().unwrap_or_default();
        let word = home.words.iter().find(|word| contains_word(code, word))?;
        Some(format!(
            "{}:{}: `{word}`: {}",
            source.path,
            index + 1,
            home.reason
        ))
    });
    wrong.collect()
}

/// Whether `word` stands in `code` and does not continue a longer name to its left.
fn contains_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code.get(..at).and_then(|left| left.chars().next_back());
        !before.is_some_and(|character| character.is_alphanumeric() || character == '_')
    })
}
