//! Configuration files of other clients: bounded, every entry usable or explained, no secret left in clear.

use std::collections::HashSet;

use connections::import::{CODES, Dialect, MAX_ENTRIES, MAX_NAME_CHARS, Notice, Source, parse};

const NAMES: &[&str] = &[
    "mcp.json",
    "config.toml",
    "config.yaml",
    "settings.json",
    "links.txt",
];

/// The first byte is the file's name, the second its dialect, or none.
pub(super) fn check(input: &[u8]) {
    let [name, dialect, bytes @ ..] = input else {
        return;
    };
    let dialect = usize::from(*dialect).checked_sub(1);
    let source = Source {
        file_name: NAMES[usize::from(*name) % NAMES.len()],
        bytes,
        dialect: dialect.map(|at| Dialect::ALL[at % Dialect::ALL.len()]),
    };
    let Ok(mut import) = parse(&source) else { return };
    assert!(import.entries.len() <= MAX_ENTRIES);
    let slugs: HashSet<&str> = import.entries.iter().map(|entry| entry.slug.as_str()).collect();
    assert_eq!(slugs.len(), import.entries.len());
    import.report.iter().for_each(known);
    for entry in &mut import.entries {
        assert!(entry.name.chars().count() <= MAX_NAME_CHARS && !entry.name.chars().any(char::is_control));
        entry.notices.iter().for_each(known);
        let found = entry.take_secrets();
        assert!(!entry.holds_secrets());
        let shown = format!("{:?}", entry.launch);
        let names: HashSet<&str> = found.iter().map(|secret| secret.name.as_str()).collect();
        assert_eq!(names.len(), found.len(), "{shown}");
        assert!(entry.take_secrets().is_empty());
    }
}

fn known(notice: &Notice) {
    assert!(CODES.iter().any(|(code, _)| *code == notice.code), "{notice:?}");
    assert!(!notice.text.chars().any(char::is_control), "{notice:?}");
}
