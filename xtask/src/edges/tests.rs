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
except = [{ file = "crates/domain/src/allowed.rs", for = "a reason" }]
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

/// Beside the file with `text` lies one that needs its exception, unless `text` is in that very file.
fn check_words(path: &str, text: &str, expected: &[&str]) {
    const EXCEPTED: &str = "crates/domain/src/allowed.rs";
    let table = Table::parse(TABLE).unwrap();
    let source = |path: &str, text: &str| Source {
        path: path.into(),
        kind: Kind::Production,
        text: text.into(),
    };
    let mut sources = vec![source(path, text)];
    if path != EXCEPTED {
        sources.push(source(EXCEPTED, "use std::env;"));
    }
    assert_eq!(
        words::violations(&table.words_only_in[0], &sources),
        expected,
        "{text}"
    );
}

#[test]
fn words_outside_their_home_are_found() {
    let path = "crates/store/src/a.rs";
    check_words(
        path,
        "use std::env;\nlet x = env::var(\"A\");\n",
        &[
            "crates/store/src/a.rs:1: `std::env`: the environment is read only in cli",
            "crates/store/src/a.rs:2: `env::var`: the environment is read only in cli",
        ],
    );
    check_words("crates/cli/src/a.rs", "use std::env;\n", &[]);
    check_words(path, "// std::env is not read here\n", &[]);
    check_words(path, "other_env::var();\n", &[]);
    check_words(
        path,
        "fn a() {}\n#[cfg(test)]\nmod tests {\nuse std::env;\n}\n",
        &[],
    );
    let idle = "crates/domain/src/allowed.rs needs no exception: the environment is read only in cli";
    check_words("crates/domain/src/allowed.rs", "fn a() {}\n", &[idle]);
}

#[test]
fn the_workspace_keeps_to_the_table() {
    let found = violations(&Workspace::here()).unwrap();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
