//! Rows and comments made up here, and the document as it is.

use super::document::{self, Requirement};
use super::{Coverage, citations};
use crate::workspace::{Kind, Source, Workspace};

fn check_citations(path: &str, text: &str, expected: &[(&str, usize)]) {
    let kind = if path.contains("tests") {
        Kind::Test
    } else {
        Kind::Production
    };
    let source = Source {
        path: path.into(),
        kind,
        text: text.into(),
    };
    let found: Vec<(String, String)> = citations::in_source(&source)
        .into_iter()
        .map(|citation| (citation.id, citation.place))
        .collect();
    let expected: Vec<(String, String)> = expected
        .iter()
        .map(|(id, line)| ((*id).to_owned(), format!("{path}:{line}")))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn comments_of_test_code_cite() {
    check_citations(
        "crates/a/tests/suite/b.rs",
        "// V155, V156: both\nfn a() {} // C02\n",
        &[("V155", 1), ("V156", 1), ("C02", 2)],
    );
    check_citations(
        "crates/a/tests/suite/b.rs",
        "let x = \"V155\";\n// V1555 V15 Z155 _V155\n",
        &[],
    );
    check_citations(
        "crates/a/src/b.rs",
        "// V155\n#[cfg(test)]\nmod tests {\n// V156\n}\n",
        &[("V156", 4)],
    );
    check_citations(
        "sdks/python/tests/test_a.py",
        "# I088\nx = 1 // 2\n",
        &[("I088", 1)],
    );
}

#[test]
fn rows_are_read() {
    let text = "| Id | Issue | Requirement |\n| --- | --- | --- |\n| V155 | 1, 4 | One \\| two. |\nV156\n";
    let expected = Requirement {
        id: "V155".into(),
        issues: vec![1, 4],
        text: "One \\| two.".into(),
    };
    assert_eq!(document::parse(text).unwrap(), [expected]);
    for wrong in [
        "",
        "| V155 | x | One. |",
        "| V155 | 1 |",
        "| V155 | 1 | One. |\n| V155 | 1 | Two. |",
    ] {
        assert!(document::parse(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn no_id_is_missing_and_none_is_made_up() {
    let coverage = Coverage::of(&Workspace::here()).unwrap();
    let ids: Vec<&str> = coverage
        .requirements
        .iter()
        .map(|requirement| requirement.id.as_str())
        .collect();
    let series = |letter: char, width: usize, last: usize| {
        (1..=last).map(move |number| format!("{letter}{number:0width$}"))
    };
    let expected: Vec<String> = series('V', 3, 188)
        .chain(series('I', 3, 93))
        .chain(series('O', 3, 57))
        .chain(series('X', 3, 22))
        .chain(series('C', 2, 5))
        .collect();
    assert_eq!(ids, expected);
    assert!(coverage.unknown.is_empty(), "{}", coverage.unknown.join("\n"));
}
