//! Files in, plans and appended entries out.

use std::fmt::Write as _;

use connections::import::{Source, parse};
use mcp::egress::Egress;

use super::file::{Section, appended};
use super::names::Names;
use super::plan::{Becomes, Plan, World, plan};
use super::report::{Report, Way};
use super::value::Ask;
use crate::config::{self, CommandEntry};

fn planned(text: &str, names: Names) -> Plan {
    let import = parse(&Source {
        file_name: "mcp.json",
        bytes: text.as_bytes(),
        dialect: None,
    })
    .unwrap();
    plan(
        import,
        &mut World {
            names,
            egress: Some(Egress::public()),
            commands: true,
        },
    )
}

/// What a plan would write, as text; secrets by their names and values, for the comparison.
fn told(plan: &Plan) -> String {
    let mut out = String::new();
    for entry in &plan.entries {
        match &entry.becomes {
            Becomes::Remote(draft) => {
                let bearer = draft
                    .bearer
                    .as_ref()
                    .map(|token| token.secret().expose().to_owned());
                let headers: Vec<_> = draft
                    .headers
                    .iter()
                    .map(|(name, value)| format!("{}: {}", name.as_arc(), value.secret().expose()))
                    .collect();
                writeln!(
                    out,
                    "{} -> remote {} {:?} {} {bearer:?} {headers:?}",
                    entry.name, draft.namespace, draft.label, draft.url
                )
                .unwrap();
            }
            Becomes::Command(draft) => {
                let secrets: Vec<_> = draft
                    .secrets
                    .iter()
                    .map(|(name, value)| format!("{name}={}", value.expose()))
                    .collect();
                writeln!(
                    out,
                    "{} -> command {} {:?} {secrets:?}",
                    entry.name, draft.entry.name, draft.entry.label
                )
                .unwrap();
            }
            Becomes::There(name) => writeln!(out, "{} -> there as {name}", entry.name).unwrap(),
            Becomes::Nothing(why) => writeln!(out, "{} -> nothing: {why}", entry.name).unwrap(),
        }
        for ask in &entry.asks {
            match ask {
                Ask::Vault { name, what } => writeln!(out, "  vault {name}: {what}").unwrap(),
                Ask::Do(text) => writeln!(out, "  do {text}").unwrap(),
            }
        }
    }
    out
}

fn entries(plan: &Plan) -> Vec<&CommandEntry> {
    let commands = plan.entries.iter().filter_map(|entry| match &entry.becomes {
        Becomes::Command(draft) => Some(&draft.entry),
        Becomes::Remote(_) | Becomes::There(_) | Becomes::Nothing(_) => None,
    });
    commands.collect()
}

/// The file with a plan's commands, and that it reads back as exactly those.
fn file(before: &str, plan: &Plan) -> String {
    let entries = entries(plan);
    let sections: Vec<_> = entries
        .iter()
        .map(|&entry| Section {
            entry,
            remarks: vec!["a remark\nthat tries to leave".to_owned()],
        })
        .collect();
    let text = appended(before, "some file", &sections).unwrap();
    let read = config::entries(&text).unwrap();
    let kept = config::entries(before).unwrap_or_default().len();
    assert_eq!(read[kept..].iter().collect::<Vec<_>>(), entries);
    assert!(text.starts_with(before));
    text
}

// V123
#[test]
fn every_text_becomes_a_value_a_reference_or_a_question() {
    let cases = [
        (
            "plain and secret values of a command",
            r#"{"mcpServers": {"Git Hub": {"command": "npx", "args": ["-y", "server", "--api-key", "sk-12345678901234567890"],
                "env": {"GITHUB_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345", "MODE": "ro", "MAX_TOKENS": "4096"}}}}"#,
            "Git Hub -> command git-hub Some(\"Git Hub\") [\"git-hub/args/3=sk-12345678901234567890\", \
             \"git-hub/env/GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345\"]\n",
        ),
        (
            "variables: whole, with a default, mixed, and ours",
            r#"{"mcpServers": {"a": {"type": "stdio", "command": "a", "args": ["--root", "${ROOT:-/srv}"],
                "env": {"A": "${A_VALUE}", "B": "x-${A_VALUE}", "C": "${SWITCHBOARD_API_KEY}"}}}}"#,
            "a -> command a Some(\"a\") []\n  \
             do args/1: ${ROOT:-/srv} has a default: choose between { env = … } and the default\n  \
             do env/B: x-${A_VALUE} mixes text with a value that only the client knows\n  \
             do env/C: ${SWITCHBOARD_API_KEY} is a setting of Switchboard itself, which is never passed on\n",
        ),
        (
            "inputs are asked for, an empty secret too",
            r#"{"inputs": [{"type": "promptString", "id": "key", "password": true}],
                "servers": {"p": {"type": "stdio", "command": "p", "env": {"P_KEY": "${input:key}", "API_KEY": ""}}}}"#,
            "p -> command p Some(\"p\") []\n  vault p/env/API_KEY: env/API_KEY is empty in the file\n  \
             vault p/env/P_KEY: env/P_KEY is what the client asks for as \"key\"\n",
        ),
        (
            "headers of an address",
            r#"{"mcpServers": {"r": {"type": "http", "url": "https://mcp.example.com/mcp",
                "headers": {"Authorization": "Bearer abcdefgh12345678", "X-Team": "core", "Accept": "text/html", "X-Key": "${KEY}"}}}}"#,
            "r -> remote r \"r\" https://mcp.example.com/mcp Some(\"abcdefgh12345678\") [\"x-team: core\"]\n  \
             do headers/Accept was not taken: this header is set by Switchboard itself\n  \
             do headers/X-Key is ${KEY}, which only the client knows: `switchboard connections update r --expected-version 1 --header-file X-Key=FILE`\n",
        ),
        (
            "addresses that cannot be taken",
            r#"{"mcpServers": {"local": {"type": "http", "url": "http://localhost:8000/mcp"},
                "leaky": {"type": "http", "url": "https://mcp.example.com/mcp?api_key=abcdefgh12345678"}}}"#,
            "local -> nothing: scheme http is not allowed; use https, or ask the operator to register this exact URL. \
             [[internal_urls]] in the configuration registers an internal url\n\
             leaky -> nothing: the url holds a secret (https://mcp.example.com/mcp?api_key=[secret]), and urls are shown; \
             add the connection with the secret in a header\n",
        ),
    ];
    for (what, text, want) in cases {
        let plan = planned(text, Names::default());
        assert_eq!(told(&plan), want, "{what}");
        let file = file("", &plan);
        for entry in &plan.entries {
            if let Becomes::Command(draft) = &entry.becomes {
                assert!(
                    draft
                        .secrets
                        .iter()
                        .all(|(_, secret)| !file.contains(secret.expose())),
                    "{what}: {file}"
                );
            }
        }
    }
}

// V124
#[test]
fn a_second_import_finds_itself_and_others_keep_their_names() {
    let text = r#"{"mcpServers": {"files": {"command": "npx", "args": ["files", "/srv"]},
        "search": {"type": "http", "url": "https://search.example.com/mcp"}}}"#;
    let mut taken = Names::default();
    taken.connection("files", "files", None);
    taken.connection("search", "Another search", Some("https://other.example.com/mcp"));
    let first = planned(text, taken);
    let want = "files -> command files-2 Some(\"files (2)\") []\nsearch -> remote search-2 \"search\" https://search.example.com/mcp None []\n";
    assert_eq!(told(&first), want);

    let mut known = Names::default();
    known.connection("files", "files", None);
    known.connection("search", "Another search", Some("https://other.example.com/mcp"));
    known.connection("search-2", "search", Some("https://search.example.com/mcp"));
    config::entries(&file("", &first))
        .unwrap()
        .iter()
        .for_each(|entry| known.command(entry));
    assert_eq!(
        told(&planned(text, known)),
        "files -> there as files-2\nsearch -> there as search-2\n"
    );
}

#[test]
fn what_a_file_says_cannot_leave_its_place() {
    let text = r##"{"mcpServers": {"x\"]\nenabled = true\n[[": {"command": "a\"b\\c\u0007\n\u2028", "args": ["'''", "\"\"\"", "# no"],
        "env": {"ODD NAME.x": "a\nb", "B": "\u001b[2J"}}}}"##;
    let plan = planned(text, Names::default());
    let before = "# mine\n[[connections]]\nname = \"mine\"\ncommand = [\"mine\"]\n";
    let text = file(before, &plan);
    assert!(
        config::entries(&text)
            .unwrap()
            .iter()
            .skip(1)
            .all(|entry| !entry.enabled && !entry.trusted),
        "{text}"
    );
}

#[test]
fn a_file_that_cannot_be_read_stays_as_it_is() {
    let plan = planned(r#"{"mcpServers": {"a": {"command": "a"}}}"#, Names::default());
    let entries = entries(&plan);
    let section = || {
        [Section {
            entry: entries[0],
            remarks: Vec::new(),
        }]
    };
    for before in [
        "[[connections]]\nname = ",
        "[[connections]]\nname = \"a\"\ncommand = [\"b\"]\n",
        "other = 1\n",
    ] {
        assert!(appended(before, "some file", &section()).is_err(), "{before}");
    }
}

// V123
#[test]
fn files_of_all_clients_can_be_planned_and_written() {
    let Some(folder) = testkit::cases::folder() else {
        return;
    };
    let mut files = 0;
    for found in std::fs::read_dir(folder.join("client-configs")).unwrap() {
        let path = found.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if matches!(name.as_str(), "README.md" | "expected.json") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let import = parse(&Source {
            file_name: &path.to_string_lossy(),
            bytes: &bytes,
            dialect: None,
        })
        .unwrap();
        let plan = plan(
            import,
            &mut World {
                names: Names::default(),
                egress: Some(Egress::public()),
                commands: true,
            },
        );
        let text = file("", &plan);
        let shown = serde_json::to_string(&Report::new(
            plan,
            Way::Online {
                url: "https://a.example".to_owned(),
            },
            false,
        ))
        .unwrap();
        assert!(!shown.contains("ghp_") && !text.contains("ghp_"), "{name}");
        files += 1;
    }
    assert!(files > 20, "only {files} files");
}
