//! Words that may stand only in the production code of some crates.

use super::WordHome;
use crate::workspace::Source;

/// Every production line outside the home that contains one of its words, and every exception that is not needed.
/// Comments do not count.
pub(super) fn violations(home: &WordHome, sources: &[Source]) -> Vec<String> {
    let outside = sources
        .iter()
        .filter(|source| !home.crates.iter().any(|name| name == source.crate_name()));
    let (excepted, strays): (Vec<_>, Vec<_>) =
        outside.partition(|source| home.except.iter().any(|exception| exception.file == source.path));
    let needed = |file: &str| {
        excepted
            .iter()
            .any(|source| source.path == file && !in_source(home, source).is_empty())
    };
    let idle = home.except.iter().filter(|exception| !needed(&exception.file));
    let idle = idle.map(|exception| format!("{} needs no exception: {}", exception.file, home.reason));
    strays
        .iter()
        .flat_map(|source| in_source(home, source))
        .chain(idle)
        .collect()
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
