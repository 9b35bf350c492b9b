//! Whatever the bytes, reading ends, does not panic, and keeps its promises.

use connections::import::{Dialect, Source, parse};
use proptest::prelude::{Just, Strategy, any, prop, proptest};
use proptest::test_runner::Config;

use super::expectation::invariants;
use super::samples::SAMPLES;

fn check(file_name: &str, bytes: &[u8], dialect: Option<Dialect>) {
    if let Ok(mut import) = parse(&Source {
        file_name,
        bytes,
        dialect,
    }) {
        let mut wrong = Vec::new();
        invariants(&import, &mut wrong);
        assert_eq!(wrong, [""; 0]);
        for entry in &mut import.entries {
            entry.take_secrets();
            assert!(!entry.holds_secrets());
        }
    }
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "x.json",
        "x.yaml",
        "x.toml",
        "links.txt",
        "",
        ".mcp.json",
        "/.claude.json",
        "/.cursor/mcp.json",
        ".vscode/mcp.json",
        ".gemini/settings.json",
        "/zed/settings.json",
        "opencode.json",
        "cline_mcp_settings.json",
        "claude_desktop_config.json",
    ])
}

fn dialect() -> impl Strategy<Value = Option<Dialect>> {
    prop::option::of(prop::sample::select(Dialect::ALL.to_vec()))
}

/// A sample with some pieces cut out, doubled or overwritten by what formats and notations are made of.
fn mutated() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let pieces = vec![
        "", "{", "}", "[", "]", "\"", ",", ":", "null", "${", "${A:-", "://", "@", "\n", "&a ", "*a", "é",
        "\\u0000", "-", "0",
    ];
    let cut = (
        any::<prop::sample::Index>(),
        0..12_usize,
        prop::sample::select(pieces),
    );
    let cuts = prop::collection::vec(cut, 1..6);
    (prop::sample::select(SAMPLES.to_vec()), cuts, Just(())).prop_map(|((name, text), cuts, ())| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, length, piece) in cuts {
            let from = at.index(bytes.len().max(1)).min(bytes.len());
            let to = (from + length).min(bytes.len());
            bytes.splice(from..to, piece.bytes());
        }
        (name, bytes)
    })
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), name in name(), dialect in dialect()) {
        check(name, &bytes, dialect);
    }

    #[test]
    fn any_text(text in "[{}\\[\\]\",:a-c$\\- \n/@=&*<é]{0,200}", name in name(), dialect in dialect()) {
        check(name, text.as_bytes(), dialect);
    }

    #[test]
    fn mutated_samples((name, bytes) in mutated(), dialect in dialect()) {
        check(name, &bytes, None);
        check(name, &bytes, dialect);
    }
}
