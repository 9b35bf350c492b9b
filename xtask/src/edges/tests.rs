//! The table against graphs made up here, and against the workspace as it is.

use super::{Dependency, Package, Table, violations, words};
use crate::workspace::{Kind, Source, Workspace};

const TABLE: &str = r#"
[may_import]
domain = []
store = ["domain"]
cli = ["*"]
testkit = ["*"]

[dev_only]
crates = ["testkit"]

[[only_in]]
packages = ["sqlx"]
crates = ["store"]
reason = "SQL has one home"

[[words_only_in]]
words = ["std::env", "env::var"]
crates = ["cli"]
reason = "the environment is read only in cli"
"#;

/// `from -> to`, `from -> to (dev)`, or `from -> library!` for a dependency that is not ours.
fn check_graph(edge: &str, expected: &[&str]) {
    let table = Table::parse(TABLE).unwrap();
    let (from, to) = edge.split_once(" -> ").unwrap();
    let name = to.trim_end_matches(" (dev)").trim_end_matches('!');
    let dependency = Dependency {
        name: name.into(),
        dev: to.ends_with("(dev)"),
        ours: !to.contains('!'),
    };
    let package = Package {
        name: from.into(),
        dependencies: vec![dependency],
    };
    assert_eq!(table.graph_violations(&[package]), expected, "{edge}");
}

#[test]
fn edges_outside_the_table_are_found() {
    check_graph("store -> domain", &[]);
    check_graph("store -> testkit (dev)", &[]);
    check_graph("cli -> store", &[]);
    check_graph("testkit -> store", &[]);
    check_graph("domain -> store", &["domain may not import store"]);
    check_graph("domain -> store (dev)", &["domain may not import store (dev)"]);
    check_graph("store -> testkit", &["store may not import testkit"]);
    check_graph("cli -> testkit", &["cli may not import testkit"]);
    check_graph(
        "other -> domain",
        &["other is not in the table: add it with what it may import"],
    );
}

#[test]
fn libraries_outside_their_home_are_found() {
    check_graph("store -> sqlx!", &[]);
    check_graph("store -> serde!", &[]);
    check_graph(
        "domain -> sqlx!",
        &["domain may not depend on sqlx: SQL has one home"],
    );
    check_graph(
        "cli -> sqlx! (dev)",
        &["cli may not depend on sqlx (dev): SQL has one home"],
    );
}

#[test]
fn words_outside_their_home_are_found() {
    let cases: [(&str, &str, &[usize]); 5] = [
        (
            "crates/store/src/a.rs",
            "use std::env;\nlet x = env::var(\"A\");\n",
            &[1, 2],
        ),
        ("crates/cli/src/a.rs", "use std::env;\n", &[]),
        ("crates/store/src/a.rs", "// std::env is not read here\n", &[]),
        ("crates/store/src/a.rs", "other_env::var();\n", &[]),
        (
            "crates/store/src/a.rs",
            "fn a() {}\n#[cfg(test)]\nmod tests {\nuse std::env;\n}\n",
            &[],
        ),
    ];
    let table = Table::parse(TABLE).unwrap();
    for (path, text, lines) in cases {
        let source = Source {
            path: path.into(),
            kind: Kind::Production,
            text: text.into(),
        };
        let found = words::violations(&table.words_only_in[0], &[source]);
        let expected: Vec<String> = lines.iter().map(|line| format!("{path}:{line}: ")).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (sentence, start) in found.iter().zip(expected) {
            assert!(sentence.starts_with(&start), "{sentence}");
        }
    }
}

#[test]
fn the_workspace_keeps_to_the_table() {
    let found = violations(&Workspace::here()).unwrap();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
