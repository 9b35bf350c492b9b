//! Files made up here, and the workspace as it is.

use super::{sources, violations};
use crate::workspace::{Kind, Source, Workspace};

fn check(path: &str, kind: Kind, text: &str, expected: &[&str]) {
    let source = Source {
        path: path.into(),
        kind,
        text: text.into(),
    };
    assert_eq!(violations(&[source]), expected, "{path}");
}

#[test]
fn long_files_are_found() {
    let long_production = "\n".repeat(801);
    let long_test = "\n".repeat(1_501);
    check("console/src/a.ts", Kind::Production, &"\n".repeat(800), &[]);
    check(
        "console/src/a.ts",
        Kind::Production,
        &long_production,
        &["console/src/a.ts has 801 lines; the limit is 800"],
    );
    check("crates/a/tests/b.rs", Kind::Test, &long_production, &[]);
    check(
        "crates/a/tests/b.rs",
        Kind::Test,
        &long_test,
        &["crates/a/tests/b.rs has 1501 lines; the limit is 1500"],
    );
    let median = "half of the production Rust files have over 151 lines; the limit is 150";
    check(
        "crates/a/src/b.rs",
        Kind::Production,
        &"\n".repeat(151),
        &[median],
    );
}

#[test]
fn names_that_say_nothing_are_found() {
    let path = "crates/a/src/b.rs";
    let cases = [
        ("pub struct Pool;", None),
        ("pub(crate) struct PoolManager<T> {", Some("PoolManager")),
        ("enum ToolUtils {", Some("ToolUtils")),
        ("type Helper = u8;", Some("Helper")),
        ("pub trait Handler {", Some("Handler")),
        ("pub trait OrderHandler {", None),
        ("struct Utility;", None),
        ("struct Uncommon;", None),
        ("let manager = 1;", None),
    ];
    for (text, name) in cases {
        let expected = name.map(|name| format!("{path}:1: the name `{name}` says nothing"));
        check(
            path,
            Kind::Production,
            text,
            &expected.as_deref().into_iter().collect::<Vec<_>>(),
        );
    }
    let empty = "crates/a/src/string_utils.rs: the name `string_utils` says nothing";
    check("crates/a/src/string_utils.rs", Kind::Production, "", &[empty]);
    let empty = "crates/a/tests/common/mod.rs: the name `common` says nothing";
    check("crates/a/tests/common/mod.rs", Kind::Test, "", &[empty]);
}

#[test]
fn the_workspace_is_small_and_well_named() {
    let found = violations(&sources(&Workspace::here()).unwrap());
    assert!(found.is_empty(), "{}", found.join("\n"));
}
