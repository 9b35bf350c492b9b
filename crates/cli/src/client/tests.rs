//! The whole command line: that it holds together, what its help says, and what it makes of arguments.

use clap::{ArgMatches, Command, CommandFactory as _};
use domain::Surface;
use gateway::{Capability, Registry};
use serde_json::{Value, json};
use url::Url;

use super::{body, commands, server, show};
use crate::args::Cli;
use crate::output::Usage;

fn registry() -> Registry {
    capabilities::registry().unwrap()
}

fn tree(registry: &Registry) -> Command {
    commands(Cli::command(), registry)
}

#[test]
fn the_tree_holds_together() {
    tree(&registry()).debug_assert();
}

#[test]
fn help_pages() {
    let registry = registry();
    let mut tree = tree(&registry);
    tree.build();
    insta::assert_snapshot!("help", tree.render_help());
    for words in [
        &["connections"][..],
        &["connections", "add"],
        &["connections", "import"],
        &["tools", "call"],
        &["approvals", "resolve"],
    ] {
        let mut page = &mut tree;
        for word in words {
            page = page.find_subcommand_mut(word).unwrap();
        }
        let page = page.clone().term_width(100).render_help();
        assert!(
            page.to_string().lines().all(|line| line.chars().count() <= 100),
            "{page}"
        );
        insta::assert_snapshot!(words.join("-"), page);
    }
}

/// The capability of a command line and what was parsed.
fn parsed<'a>(registry: &'a Registry, line: &[&str]) -> Result<(&'a Capability, ArgMatches), clap::Error> {
    let matches =
        tree(registry).try_get_matches_from(std::iter::once("switchboard").chain(line.iter().copied()))?;
    let (mut words, mut leaf) = (Vec::new(), &matches);
    while let Some((word, next)) = leaf.subcommand() {
        words.push(word.to_owned());
        leaf = next;
    }
    let capability = registry
        .on(Surface::Cli)
        .find(|c| c.declaration.command_words() == words)
        .unwrap();
    Ok((capability, leaf.clone()))
}

/// Command lines and the input they make.
type Lines<'a> = Vec<(Vec<&'a str>, Value)>;

#[test]
fn arguments_become_input() {
    let registry = registry();
    let cases: Lines<'_> = vec![
        (vec!["time", "--time-zone", "UTC"], json!({ "time_zone": "UTC" })),
        (
            vec!["approvals", "resolve", "an-id", "denied"],
            json!({ "approval": "an-id", "decision": "denied" }),
        ),
        (
            vec![
                "tools",
                "call",
                "files__read",
                "--arguments",
                r#"{"path": "/a", "n": [1]}"#,
            ],
            json!({ "name": "files__read", "arguments": { "path": "/a", "n": [1] } }),
        ),
        (
            vec!["tools", "list", "--unclassified"],
            json!({ "unclassified": true }),
        ),
    ];
    check_inputs(&registry, cases);
}

#[test]
fn files_become_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let token = path("token", "t0ken\n");
    let input = path(
        "input",
        r#"{"label": "From a file", "url": "https://a.example/mcp", "enabled": true}"#,
    );
    let header = format!("X-Org={}", path("header", "seven\r\n"));
    let add = |rest: &[&'static str]| [&["connections", "add"], rest].concat();
    let mut secrets = add(&["--label", "L", "--url", "https://b.example/mcp"]);
    secrets.extend(["--bearer-file", &token, "--header-file", &header]);
    let mut given = add(&[
        "--enabled",
        "false",
        "--allowed-tools",
        "a",
        "--allowed-tools",
        "b",
    ]);
    given.extend(["--input", &input]);
    let mut update = vec!["connections", "update", "x", "--expected-version", "3"];
    update.extend(["--auth-header", "X-Key", "--token-file", &token]);
    let mut account = vec!["connections", "update", "x", "--expected-version", "3", "--oauth"];
    account.extend(["--scope", "a", "--scope", "b", "--issuer", "https://as.example"]);
    account.extend([
        "--client-id",
        "me",
        "--client-secret-file",
        &token,
        "--offline-consent",
    ]);
    let cases: Lines<'_> = vec![
        (
            account,
            json!({
                "connection": "x", "expected_version": 3,
                "auth": { "type": "oauth", "scopes": ["a", "b"], "issuer": "https://as.example", "client_id": "me",
                    "client_secret": "t0ken", "profile": "offline_consent" },
            }),
        ),
        (
            vec!["connections", "update", "x", "--expected-version", "3", "--oauth"],
            json!({ "connection": "x", "expected_version": 3, "auth": { "type": "oauth" } }),
        ),
        (
            secrets,
            json!({
                "label": "L", "url": "https://b.example/mcp", "auth": { "type": "bearer", "token": "t0ken" },
                "headers": [{ "name": "X-Org", "value": "seven" }],
            }),
        ),
        (
            given,
            json!({
                "label": "From a file", "url": "https://a.example/mcp", "enabled": false, "allowed_tools": ["a", "b"],
            }),
        ),
        (
            update,
            json!({
                "connection": "x", "expected_version": 3,
                "auth": { "type": "header", "header_name": "X-Key", "value_prefix": null, "token": "t0ken" },
            }),
        ),
    ];
    check_inputs(&registry(), cases);
}

fn check_inputs(registry: &Registry, cases: Lines<'_>) {
    for (line, want) in cases {
        let (capability, matches) = parsed(registry, &line).unwrap();
        let input = body::input(capability, &matches).unwrap();
        assert_eq!(Value::Object(input), want, "{line:?}");
    }
}

#[test]
fn what_cannot_be_asked_is_the_callers_mistake() {
    let registry = registry();
    let refused: &[&[&str]] = &[
        &["connections", "show"],
        &["approvals", "resolve", "an-id", "perhaps"],
        &[
            "connections",
            "add",
            "--label",
            "L",
            "--url",
            "u",
            "--token",
            "t0ken",
        ],
        &[
            "connections",
            "add",
            "--label",
            "L",
            "--url",
            "u",
            "--auth-header",
            "X-Key",
        ],
        &[
            "connections",
            "import",
            "f",
            "--url",
            "http://127.0.0.1:1",
            "--data",
            "d",
        ],
        &["nonsense"],
    ];
    for line in refused {
        assert!(
            parsed(&registry, line)
                .err()
                .is_some_and(|error| error.use_stderr()),
            "{line:?}"
        );
    }
    let late: &[&[&str]] = &[
        &["tools", "call", "t", "--arguments", "{"],
        &[
            "connections",
            "add",
            "--label",
            "L",
            "--url",
            "u",
            "--header-file",
            "nothing",
        ],
        &[
            "connections",
            "add",
            "--label",
            "L",
            "--url",
            "u",
            "--bearer-file",
            "/dev/null",
        ],
    ];
    for line in late {
        let (capability, matches) = parsed(&registry, line).unwrap();
        assert!(
            body::input(capability, &matches).unwrap_err().is::<Usage>(),
            "{line:?}"
        );
    }
}

#[test]
fn path_parameters_take_their_places() {
    let path = "/connections/{connection}/tools/{tool}/accept";
    let cases = [
        (
            "http://127.0.0.1:1/",
            json!({ "connection": "a", "tool": "t", "digest": "d" }),
            Some("http://127.0.0.1:1/api/v1/connections/a/tools/t/accept"),
        ),
        (
            "https://host.example/under/",
            json!({ "connection": "a b", "tool": "x/../y?" }),
            Some("https://host.example/under/api/v1/connections/a%20b/tools/x%2F..%2Fy%3F/accept"),
        ),
        ("http://127.0.0.1:1/", json!({ "connection": "a" }), None),
        (
            "http://127.0.0.1:1/",
            json!({ "connection": "a", "tool": ".." }),
            None,
        ),
    ];
    for (base, input, want) in cases {
        let placed = server::place(&Url::parse(base).unwrap(), path, input.as_object().unwrap());
        match (placed, want) {
            (Ok((url, rest)), Some(want)) => {
                assert_eq!(url.as_str(), want);
                assert!(
                    !rest.contains_key("connection") && !rest.contains_key("tool"),
                    "{rest:?}"
                );
            }
            (Err(error), None) => assert!(error.is::<Usage>(), "{error}"),
            (placed, want) => panic!("{placed:?} is not {want:?}"),
        }
    }
}

#[test]
fn answers_as_people_read_them() {
    let approvals = [json!({
        "id": "01a22d60-cc73-76e3-a4bb-0f37c0f55c4c", "agent": "default", "tool": "sample__delete_note",
        "arguments": { "id": "welcome" }, "expires_at": "2026-12-01T16:54:08.123456Z", "note": null,
    })];
    insta::assert_snapshot!("approvals", show::list("list_approvals", &approvals));
    let waiting = json!({
        "call_id": "01a22d60-cafc-717d-be2c-9bf672a5f8ba", "status": "waiting", "code": "approval_required", "result": null,
        "message": "a person must approve this call first", "details": {}, "approval_id": "01a22d60-cafe-71b5-a5a4-0e9456c29e5a",
    });
    insta::assert_snapshot!("waiting", show::called(&waiting));
    let hostile = json!({ "call_id": "c", "status": "succeeded", "code": null, "result": { "content": [
        { "type": "text", "text": "clear \u{1b}[2J and \u{202e}turn\u{200b}" }, { "type": "image", "data": "…" },
    ] } });
    insta::assert_snapshot!("hostile", show::called(&hostile));
    let report = json!({
        "ok": false, "failure": "the server does not answer", "counts": { "tools": 0, "prompts": 0 }, "lines": [],
        "connection": { "namespace": "files", "auth": { "type": "none", "configured": false }, "url": null },
        "checks": [{ "check": "grant", "outcome": "stops" }], "duration_us": 1_234_567,
    });
    insta::assert_snapshot!("report", show::single("connections.test", &report));
    let refused = json!({ "status": 401, "code": "auth.required", "detail": "send a valid key" });
    insta::assert_snapshot!("refused", show::refusal(&refused));
}
