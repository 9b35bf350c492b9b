//! Small samples of every dialect family, each with its expectation.

use connections::import::{Dialect, Import, Source, parse};
use serde_json::{Map, Value};

use super::expectation::mismatches;

/// Name and content of every sample.
pub(super) const SAMPLES: &[(&str, &str)] = &[
    ("claude-desktop.json", include_str!("samples/claude-desktop.json")),
    ("claude-code.json", include_str!("samples/claude-code.json")),
    ("dot-claude.json", include_str!("samples/dot-claude.json")),
    ("cursor.json", include_str!("samples/cursor.json")),
    ("vscode.jsonc", include_str!("samples/vscode.jsonc")),
    (
        "vscode-settings.json",
        include_str!("samples/vscode-settings.json"),
    ),
    ("windsurf.json", include_str!("samples/windsurf.json")),
    ("zed.jsonc", include_str!("samples/zed.jsonc")),
    ("cline.json", include_str!("samples/cline.json")),
    ("roo.json", include_str!("samples/roo.json")),
    ("continue.yaml", include_str!("samples/continue.yaml")),
    ("goose.yaml", include_str!("samples/goose.yaml")),
    ("codex.toml", include_str!("samples/codex.toml")),
    ("gemini.json", include_str!("samples/gemini.json")),
    ("opencode.jsonc", include_str!("samples/opencode.jsonc")),
    ("opencode-v2.json", include_str!("samples/opencode-v2.json")),
    ("copilot.json", include_str!("samples/copilot.json")),
    ("bare.json", include_str!("samples/bare.json")),
    ("links.txt", include_str!("samples/links.txt")),
];

const EXPECTED: &str = include_str!("samples/expected.json");

fn check(file: &str, text: &str, expected: &Map<String, Value>) -> Vec<String> {
    let name = expected["_as"].as_str().expect("a file name");
    let mut import = match parse(&Source {
        file_name: name,
        bytes: text.as_bytes(),
        dialect: None,
    }) {
        Ok(import) => import,
        Err(error) => return vec![format!("{file}: {error}")],
    };
    let mut wrong = mismatches(&import, expected);
    if import.dialect.name() != expected["_dialect"] {
        wrong.push(format!("taken for {}", import.dialect));
    }
    let report: Vec<&str> = import.report.iter().map(|notice| notice.code).collect();
    if serde_json::json!(report) != expected["_report"] {
        wrong.push(format!("report: wanted {}, got {report:?}", expected["_report"]));
    }
    wrong.extend(secrets_stay_hidden(&mut import, "hidden-"));
    wrong.into_iter().map(|what| format!("{file}: {what}")).collect()
}

/// Secrets of the samples are marked by a word, which must show up nowhere, before and after they are moved out.
pub(super) fn secrets_stay_hidden(import: &mut Import, mark: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if format!("{import:?}").contains(mark) {
        wrong.push(format!("a secret shows: {import:?}"));
    }
    for entry in &mut import.entries {
        let before: Vec<String> = entry.launch.templates().iter().map(|(_, t)| t.shown()).collect();
        wrong.extend(
            before
                .iter()
                .filter(|text| text.contains(mark))
                .map(|text| format!("a secret is shown: {text}")),
        );
        let held = entry.holds_secrets();
        let moved = entry.take_secrets();
        if held == moved.is_empty() || entry.holds_secrets() {
            wrong.push(format!("{}: secrets were not moved out", entry.name));
        }
        wrong.extend(
            moved
                .iter()
                .filter(|found| found.value.expose().is_empty())
                .map(|found| format!("{} is empty", found.name)),
        );
    }
    wrong
}

#[test]
fn samples_are_read_as_expected() {
    let all: Map<String, Value> = serde_json::from_str(EXPECTED).expect("expected.json is an object");
    assert_eq!(
        all.keys().map(String::as_str).collect::<Vec<_>>(),
        SAMPLES.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    );
    let wrong: Vec<String> = SAMPLES
        .iter()
        .flat_map(|(name, text)| check(name, text, all[*name].as_object().expect("an object")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_stated_dialect_wins() {
    let text = br#"{"mcpServers":{"a":{"url":"https://a.example.com/x","timeout":2}}}"#;
    let read = |dialect| {
        let import = parse(&Source {
            file_name: "/.cursor/mcp.json",
            bytes: text,
            dialect: Some(dialect),
        })
        .expect("parses");
        import.entries[0].timeouts.call_ms
    };
    assert_eq!(read(Dialect::Cline), Some(2000));
    assert_eq!(read(Dialect::LmStudio), Some(2));
    assert_eq!(read(Dialect::Cursor), None);
}

#[test]
fn dialects_have_names() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.name().parse::<Dialect>(), Ok(*dialect));
    }
    let error = "nobody".parse::<Dialect>().expect_err("unknown");
    assert!(error.to_string().contains("claude-desktop"), "{error}");
}
