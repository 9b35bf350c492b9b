//! What only revision 2026-07-28 allows is left out for clients of older ones: they would refuse the whole listing, or the whole result.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::wire::{Members, push_text};

/// A tool's definition for an older client: until 2025-11-25 what a tool answers is an object, and so says its `outputSchema`.
pub(super) fn definition(raw: &RawValue) -> Cow<'_, str> {
    let text = raw.get();
    if !mentions(text, "outputSchema") {
        return Cow::Borrowed(text);
    }
    let members = Members::read(raw).unwrap_or_default();
    let objects = |schema: &RawValue| {
        Members::read(schema).is_some_and(|schema| schema.text("type").as_deref() == Some("object"))
    };
    match members.get("outputSchema") {
        Some(schema) if !objects(schema) => {
            let rest: Box<str> = members.filtered(|name| name != "outputSchema").get().into();
            Cow::Owned(rest.into())
        }
        _ => Cow::Borrowed(text),
    }
}

/// A tool's result for an older client, where it has to be another: without `structuredContent` that is no object. Where nothing else
/// is in it, what it says is said as text.
pub(super) fn result(raw: &RawValue) -> Option<Box<RawValue>> {
    if !mentions(raw.get(), "structuredContent") {
        return None;
    }
    let members = Members::read(raw)?;
    let said = members
        .get("structuredContent")
        .filter(|said| !said.get().starts_with('{'))?;
    let empty = members.get("content").is_none_or(|content| {
        serde_json::from_str::<Vec<&RawValue>>(content.get()).is_ok_and(|c| c.is_empty())
    });
    if !empty || said.get() == "null" {
        return Some(members.filtered(|name| name != "structuredContent"));
    }
    let others = members.filtered(|name| !matches!(name, "structuredContent" | "content"));
    let mut out = String::from(r#"{"content":[{"type":"text","text":"#);
    push_text(&mut out, said.get());
    out.push_str("}]");
    for (name, value) in Members::read(&others)?.iter() {
        out.push(',');
        push_text(&mut out, name);
        out.push(':');
        out.push_str(value.get());
    }
    out.push('}');
    RawValue::from_string(out).ok()
}

/// Whether a text may hold this key; one with escapes may hold any.
fn mentions(text: &str, key: &str) -> bool {
    text.contains(key) || text.contains("\\u")
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{definition, result};

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn schemas_of_anything_but_objects_are_left_out() {
        let cases = [
            (r#"{"name":"a" }"#, r#"{"name":"a" }"#),
            (
                r#"{"name":"a","outputSchema":{"type":"object","x":1}}"#,
                r#"{"name":"a","outputSchema":{"type":"object","x":1}}"#,
            ),
            (
                r#"{"outputSchema":{"type":"array"},"name":"a"}"#,
                r#"{"name":"a"}"#,
            ),
            (
                r#"{"name":"a","outputSchema":{"type":["object","null"]}}"#,
                r#"{"name":"a"}"#,
            ),
            (r#"{"name":"a","outputSchema":{}}"#, r#"{"name":"a"}"#),
            (r#"{"name":"a","outputSchema":true}"#, r#"{"name":"a"}"#),
            (r#"{"name":"a","output\u0053chema":{}}"#, r#"{"name":"a"}"#),
            (
                r#"{"name":"outputSchema","inputSchema":{}}"#,
                r#"{"name":"outputSchema","inputSchema":{}}"#,
            ),
        ];
        for (given, want) in cases {
            assert_eq!(definition(&raw(given)), want, "{given}");
        }
    }

    #[test]
    fn content_that_is_no_object_is_left_out() {
        let cases = [
            (r#"{"content":[]}"#, None),
            (r#"{"content":[],"structuredContent":{"a":1}}"#, None),
            (
                r#"{"content":[{}],"structuredContent":[1]}"#,
                Some(r#"{"content":[{}]}"#),
            ),
            (
                r#"{"content":[],"structuredContent":["a"],"isError":false}"#,
                Some(r#"{"content":[{"type":"text","text":"[\"a\"]"}],"isError":false}"#),
            ),
            (
                r#"{"structuredContent":5}"#,
                Some(r#"{"content":[{"type":"text","text":"5"}]}"#),
            ),
            (
                r#"{"content":[],"structuredContent":null}"#,
                Some(r#"{"content":[]}"#),
            ),
        ];
        for (given, want) in cases {
            assert_eq!(result(&raw(given)).as_deref().map(RawValue::get), want, "{given}");
        }
    }
}
