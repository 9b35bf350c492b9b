//! Holds files to their size and names to the rules: small files, and names that say what a thing is.

#[cfg(test)]
mod tests;

use crate::say;
use crate::workspace::{Kind, Source, Workspace};

/// The most lines a production file may have.
const PRODUCTION_LINES: usize = 800;
/// The most lines a test file may have.
const TEST_LINES: usize = 1_500;
/// The most lines half of the production Rust files may have.
const MEDIAN_LINES: usize = 150;

/// Words that say nothing, wherever they stand in a name.
const EMPTY_WORDS: &[&str] = &[
    "manager", "managers", "helper", "helpers", "util", "utils", "common",
];
/// Words that say too little as the whole name.
const EMPTY_NAMES: &[&str] = &["handler", "handlers"];

/// Checks every source file of the workspace and prints the sizes of the Rust files.
///
/// # Errors
/// Lists the files that are too long and the names that say nothing.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let sources = sources(workspace)?;
    let lines = sorted_lines(&sources);
    say::line(format!(
        "{} production Rust files: median {} lines, p90 {}, longest {}",
        lines.len(),
        at(&lines, 50),
        at(&lines, 90),
        lines.last().copied().unwrap_or_default()
    ));
    say::fail_on("sizes", &violations(&sources))
}

fn sources(workspace: &Workspace) -> anyhow::Result<Vec<Source>> {
    let folders = ["crates", "xtask", "console/src", "sdks", "bench", "fuzz"];
    workspace.sources(&folders, &["rs", "ts", "tsx", "mjs", "py"])
}

/// Everything wrong with these files, one sentence each.
fn violations(sources: &[Source]) -> Vec<String> {
    let mut found: Vec<String> = sources.iter().filter_map(too_long).collect();
    let median = at(&sorted_lines(sources), 50);
    if median > MEDIAN_LINES {
        found.push(format!(
            "half of the production Rust files have over {median} lines; the limit is {MEDIAN_LINES}"
        ));
    }
    found.extend(sources.iter().filter_map(empty_path));
    found.extend(
        sources
            .iter()
            .filter(|source| source.path.ends_with(".rs"))
            .flat_map(empty_types),
    );
    found
}

fn too_long(source: &Source) -> Option<String> {
    let lines = source.text.lines().count();
    let limit = match source.kind {
        Kind::Production => PRODUCTION_LINES,
        Kind::Test => TEST_LINES,
    };
    (lines > limit).then(|| format!("{} has {lines} lines; the limit is {limit}", source.path))
}

fn empty_path(source: &Source) -> Option<String> {
    let names = source
        .path
        .split('/')
        .map(|part| part.split('.').next().unwrap_or(part));
    let empty = names.into_iter().find(|name| says_nothing(name))?;
    Some(format!("{}: the name `{empty}` says nothing", source.path))
}

fn empty_types(source: &Source) -> Vec<String> {
    let names = source
        .text
        .lines()
        .enumerate()
        .filter_map(|(index, line)| Some((index, type_name(line)?)));
    let empty = names.filter(|(_, name)| says_nothing(name));
    empty
        .map(|(index, name)| format!("{}:{}: the name `{name}` says nothing", source.path, index + 1))
        .collect()
}

/// The name of the type that a line declares.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let keyword = words.next()?;
    let declares = ["struct", "enum", "trait", "type", "union"].contains(&keyword);
    let name = words.next().filter(|_| declares)?;
    name.split(|character: char| !character.is_alphanumeric() && character != '_')
        .next()
}

fn says_nothing(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| EMPTY_WORDS.contains(&word.as_str()))
        || EMPTY_NAMES.contains(&words.join("_").as_str())
}

/// The words of a name in snake_case, kebab-case or CamelCase, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for character in name.chars() {
        let starts = character.is_uppercase() || !character.is_alphanumeric();
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words
}

/// Lengths of the production Rust files, shortest first.
fn sorted_lines(sources: &[Source]) -> Vec<usize> {
    let rust = sources
        .iter()
        .filter(|source| source.kind == Kind::Production && source.path.ends_with(".rs"));
    let mut lines: Vec<usize> = rust.map(|source| source.text.lines().count()).collect();
    lines.sort_unstable();
    lines
}

/// The value below which `percent` of the sorted values lie.
fn at(sorted: &[usize], percent: usize) -> usize {
    sorted
        .get(sorted.len() * percent / 100)
        .copied()
        .unwrap_or_default()
}
