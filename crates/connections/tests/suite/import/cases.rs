//! The case files of `SWITCHBOARD_CASES`, where that folder is given: every file, every field its expectations state.

use std::path::Path;

use connections::import::{Import, Source, parse};
use serde_json::Value;

use super::expectation::{codes, invariants, mismatches};
use super::samples::secrets_stay_hidden;

/// The dialect each case file must be recognised as.
const DIALECTS: &[(&str, &str)] = &[
    ("antigravity.mcp_config.json", "antigravity"),
    ("claude-code-plugin.mcp.json", "claude-code-plugin"),
    ("claude-code.dot-claude.json", "claude-code-user"),
    ("claude-code.mcp.json", "claude-code"),
    (
        "claude-desktop-windows.claude_desktop_config.json",
        "claude-desktop",
    ),
    ("claude-desktop.claude_desktop_config.json", "claude-desktop"),
    ("cline.cline_mcp_settings.json", "cline"),
    ("codex.config.toml", "codex"),
    ("continue.config.yaml", "continue"),
    ("continue.mcpServers.playwright-mcp.yaml", "continue"),
    ("copilot-cli.mcp-config.json", "copilot-cli"),
    ("cursor.mcp.json", "cursor"),
    ("edge.bare-map.json", "generic"),
    ("edge.bom.json", "generic"),
    ("edge.duplicate-keys.json", "generic"),
    ("edge.types-off.json", "generic"),
    ("gemini-cli.settings.json", "gemini"),
    ("goose.config.yaml", "goose"),
    ("install-links.txt", "install-link"),
    ("jetbrains-ai-assistant.as-json.json", "jetbrains"),
    ("junie.mcp.json", "junie"),
    ("lm-studio.mcp.json", "lm-studio"),
    ("opencode-v1.opencode.jsonc", "opencode-v1"),
    ("opencode-v2.opencode.jsonc", "opencode-v2"),
    ("roo-kilo.mcp_settings.json", "roo"),
    ("vscode.mcp.json", "vscode"),
    ("vscode.settings-legacy.json", "vscode-settings"),
    ("windsurf.mcp_config.json", "windsurf"),
    ("zed.settings.json", "zed"),
];

#[test]
fn case_files_are_read_as_expected() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test may be told where the case files are"
    )]
    let Ok(folder) = std::env::var("SWITCHBOARD_CASES") else {
        println!("SWITCHBOARD_CASES is not set: only the small hand-written samples are checked");
        return;
    };
    let folder = Path::new(&folder).join("client-configs");
    let read =
        |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let expected: Value = serde_json::from_slice(&read("expected.json")).expect("expected.json is JSON");
    let files = expected["files"].as_object().expect("expected.json has files");
    for name in files.keys() {
        assert!(
            DIALECTS.iter().any(|(known, _)| known == name),
            "{name} is not in the list of this test"
        );
    }
    let mut wrong = Vec::new();
    for (name, dialect) in DIALECTS {
        let bytes = read(name);
        match parse(&Source {
            file_name: name,
            bytes: &bytes,
            dialect: None,
        }) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(mut import) => {
                let expected = files.get(*name).and_then(Value::as_object);
                let mut found = expected.map_or_else(Vec::new, |expected| mismatches(&import, expected));
                if import.dialect.name() != *dialect {
                    found.push(format!("taken for {}", import.dialect));
                }
                found.extend(particulars(name, &import));
                found.extend(secrets_stay_hidden(&mut import, "PLACEHOLDER"));
                wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the expectations say in prose, or not at all.
fn particulars(name: &str, import: &Import) -> Vec<String> {
    let mut wrong = Vec::new();
    invariants(import, &mut wrong);
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    match name {
        "claude-code.dot-claude.json" => {
            // "_precedence" of the expectations.
            let user = import
                .entries
                .iter()
                .find(|e| e.name == "shared-name" && e.scope.as_deref() == Some("user"));
            must(
                user.is_some_and(|e| codes(e).contains("precedence.shadowed")),
                "the shadowed entry is not marked",
            );
            let [switches] = import.project_servers.as_slice() else {
                return vec!["one project has switches".to_owned()];
            };
            must(switches.project == "/home/REDACTED/srv/shop", "project");
            must(
                switches.approved == ["api-server"] && switches.switched_off == ["legacy-events"],
                "switches",
            );
        }
        "edge.bom.json" => must(
            import.report.iter().any(|n| n.code == "file.bom"),
            "the mark is not reported",
        ),
        "edge.duplicate-keys.json" => {
            let paths: Vec<&str> = import.entries[0]
                .notices
                .iter()
                .map(|n| n.path.as_str())
                .collect();
            must(
                paths == ["/mcpServers/dup/env/A", "/mcpServers/dup"],
                "places of the duplicates",
            );
        }
        "edge.types-off.json" => {
            let codes = codes(&import.entries[0]);
            must(
                ["args.converted", "args.dropped", "env.converted", "env.dropped"]
                    .iter()
                    .all(|c| codes.contains(c)),
                "all four",
            );
        }
        "install-links.txt" => must(links(import) == LINKS, &format!("links: {}", links(import))),
        _ => {}
    }
    wrong
}

// Nothing is expected of the links in the case files; these are their contents, unpacked by hand.
const LINKS: &str = "playwright: npx -y @playwright/mcp@latest\n\
    example: https://mcp.example.com/mcp\n\
    example: https://mcp.example.com/mcp\n\
    playwright: npx -y @playwright/mcp@latest\n\
    Example: https://mcp.example.com/mcp\n";

fn links(import: &Import) -> String {
    let mut shown = String::new();
    for entry in &import.entries {
        let texts: Vec<String> = entry
            .launch
            .templates()
            .iter()
            .map(|(_, template)| template.shown())
            .collect();
        shown.push_str(&format!("{}: {}\n", entry.name, texts.join(" ")));
    }
    shown
}
