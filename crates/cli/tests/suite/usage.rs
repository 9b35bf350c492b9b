//! Exit codes: 0 it is done, 1 it failed, 64 it was asked for wrongly.

use crate::house::{program, said};

#[test]
fn exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("bad.toml"),
        "[server]\nlisten = 7\nnonsense = true\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("mcp.json"),
        r#"{"mcpServers": {"a": {"command": "a"}}}"#,
    )
    .unwrap();
    let unreachable = "http://127.0.0.1:9";
    let cases: &[(&[&str], i32)] = &[
        (&["--help"], 0),
        (&["--version"], 0),
        (&["completions", "fish"], 0),
        (&["openapi"], 0),
        (&["nonsense"], 64),
        (&["connections", "show"], 64),
        (
            &["connections", "import", "mcp.json", "--dialect", "nonsense"],
            64,
        ),
        (
            &["tools", "call", "a", "--arguments", "{", "--server", unreachable],
            64,
        ),
        (&["agents", "list", "--server", "nonsense"], 64),
        (&["serve", "--config", "bad.toml"], 64),
        (&["agents", "list", "--server", unreachable], 1),
        (&["connections", "import", "missing.json"], 1),
        (&["connections", "import", "mcp.json"], 1),
        (&["mcp", "--server", "ftp://host"], 64),
        (&["agents", "list", "--server", "127.0.0.1:9"], 64),
        (&["connections"], 64),
        (&["vault", "set", "name"], 64),
        (&["vault", "set", "name", "--file", "missing"], 1),
        (&["vault", "set", "name", "--file", "mcp.json"], 1),
        (&["vault", "list"], 1),
        (&["vault", "remove", "name"], 1),
        (&["vault", "rotate"], 1),
        (&["reap"], 0),
    ];
    for (line, want) in cases {
        let said = said(program().args(*line).current_dir(folder.path()), "");
        assert_eq!(said.code, *want, "{line:?}: {said:?}");
        assert!(said.code == 0 || !said.err.is_empty(), "{line:?} says nothing");
    }
    assert!(
        !folder.path().join("data").exists(),
        "a mistake leaves nothing behind"
    );
}
