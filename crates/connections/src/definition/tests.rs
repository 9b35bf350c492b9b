use std::sync::Arc;

use domain::Hints;
use serde_json::value::RawValue;

use super::{ChangeKind, Tool, difference, rename};

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn read(text: &str) -> Result<Tool, String> {
    Tool::read(Arc::from(raw(text))).map_err(|e| e.to_string())
}

#[test]
fn reads_tools_and_says_what_is_wrong() {
    let check = |text: &str, want: Result<(), &str>| {
        assert_eq!(
            read(text).map(drop),
            want.map_err(|reason| format!("{reason}; it is left out")),
            "{text}"
        );
    };
    check(r#"{"name":"a","inputSchema":{}}"#, Ok(()));
    check(
        r#"{"name":"a","inputSchema":{},"outputSchema":null,"execution":{},"id":4}"#,
        Ok(()),
    );
    check(r#"{"inputSchema":{}}"#, Err("an item has no name"));
    check(r#"{"name":"","inputSchema":{}}"#, Err("the name is empty"));
    check(r#"{"name":7,"inputSchema":{}}"#, Err("the name is not a string"));
    check(r#"{"name":"a"}"#, Err("tool \"a\": inputSchema is missing"));
    check(
        r#"{"name":"a","inputSchema":null}"#,
        Err("tool \"a\": inputSchema is not an object"),
    );
    check(
        r#"{"name":"a","inputSchema":true}"#,
        Err("tool \"a\": inputSchema is not an object"),
    );
    check(
        r#"{"name":"a","inputSchema":{},"outputSchema":[]}"#,
        Err("tool \"a\": outputSchema is not an object"),
    );
    check(r#"["a"]"#, Err("an item is not an object"));
    assert!(
        read(r#"{"name":"a","name":"b","inputSchema":{}}"#)
            .unwrap_err()
            .contains("stands twice")
    );
    assert!(
        read(r#"{"name":"a","inputSchema":{"x":1,"x":2}}"#)
            .unwrap_err()
            .contains("stands twice")
    );
}

#[test]
fn hints_of_the_wrong_type_say_nothing() {
    let tool = read(r#"{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":"true","destructiveHint":false,"title":"A","input":1}}"#)
        .unwrap();
    assert_eq!(
        tool.hints,
        Hints {
            destructive: Some(false),
            ..Hints::default()
        }
    );
    assert_eq!(
        tool.oddities,
        ["annotation readOnlyHint is not a boolean and is ignored"]
    );
    let tool = read(r#"{"name":"a","inputSchema":{},"annotations":"none"}"#).unwrap();
    assert_eq!(tool.hints, Hints::default());
    assert_eq!(tool.oddities.len(), 1);
}

#[test]
fn digest_sees_meaning_not_spelling() {
    let base =
        read(r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{}}}"#).unwrap();
    let same = [
        r#"{ "inputSchema": {"properties":{},"type":"object"}, "description":"\u0064", "name":"a" }"#,
        r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{}},"_meta":{"x":1},"icons":[]}"#,
    ];
    let other = [
        r#"{"name":"a","description":"D","inputSchema":{"type":"object","properties":{}}}"#,
        r#"{"name":"a","title":"t","description":"d","inputSchema":{"type":"object","properties":{}}}"#,
        r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{}}}}"#,
        r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{}},"outputSchema":{}}"#,
        r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}}"#,
    ];
    for text in same {
        assert_eq!(read(text).unwrap().digest, base.digest, "{text}");
    }
    for text in other {
        assert_ne!(read(text).unwrap().digest, base.digest, "{text}");
    }
}

#[test]
fn renaming_touches_only_the_name() {
    let check = |text: &str, want: Option<&str>| {
        assert_eq!(
            rename(&raw(text), "ns__é\"")
                .map(|r| r.get().to_owned())
                .as_deref(),
            want,
            "{text}"
        );
    };
    check(
        r#"{ "a" : {"name":"inner"},  "name"  :  "old" , "z":1.50 }"#,
        Some(r#"{ "a" : {"name":"inner"},  "name"  :  "ns__é\"" , "z":1.50 }"#),
    );
    check(r#"{"n\u0061me":"old"}"#, Some(r#"{"n\u0061me":"ns__é\""}"#));
    check(r#"{"title":"x"}"#, None);
    check(r#"["name"]"#, None);
}

#[test]
fn differences_are_shown_whole() {
    let old = raw(
        r#"{"name":"a","description":"Reads","inputSchema":{"required":["x"],"properties":{"x":{},"y":{"type":"string"}}}}"#,
    );
    let new = raw(
        "{\"name\":\"a\",\"description\":\"Reads\u{200b} and sends\",\"title\":\"T\",\"inputSchema\":{\"required\":[\"x\",\"z\"],\"properties\":{\"x\":{}}}}",
    );
    let found = difference(&old, &new);
    let lines: Vec<_> = found
        .iter()
        .map(|c| (c.pointer.as_str(), c.kind, c.old.as_deref(), c.new.as_deref()))
        .collect();
    assert_eq!(
        lines,
        [
            (
                "/description",
                ChangeKind::Changed,
                Some("\"Reads\""),
                Some("\"Reads\\u{200b} and sends\"")
            ),
            ("/title", ChangeKind::Added, None, Some("\"T\"")),
            ("/inputSchema/required/1", ChangeKind::Added, None, Some("\"z\"")),
            (
                "/inputSchema/properties/y",
                ChangeKind::Removed,
                Some("{\"type\":\"string\"}"),
                None
            ),
        ]
    );
    assert!(difference(&old, &old).is_empty());
}
