//! Finding out which call an oversized message belonged to, from its first and last bytes alone.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What the head and the tail of a message that was too long to keep tell about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Salvaged {
    /// The answer to this request.
    Answer(u64),
    /// Perhaps an answer; neither end shows to what.
    Unclear,
    /// Not an answer: a request, a notification, or no JSON at all.
    Other,
}

/// Reads what is left of an oversized message.
///
/// Servers write `id` before or after the content. Before: the head is read until it breaks off. After: the last
/// member of the outermost object is looked at; only the outermost object can end the message.
pub(crate) fn salvage(head: &[u8], tail: &[u8]) -> Salvaged {
    if head.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Salvaged::Other;
    }
    match from_head(head) {
        Some(found) => found,
        None => from_tail(tail).map_or(Salvaged::Unclear, Salvaged::Answer),
    }
}

fn from_head(head: &[u8]) -> Option<Salvaged> {
    struct Until<'a>(&'a Cell<Option<Salvaged>>);

    impl<'de> Visitor<'de> for Until<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            let mut id = None;
            while let Some(key) = map.next_key::<String>()? {
                // Only now is it known that the id before did not break off in the middle.
                self.0.set(id.take().or(self.0.get()));
                match key.as_str() {
                    "method" => {
                        self.0.set(Some(Salvaged::Other));
                        return Ok(());
                    }
                    "id" => {
                        let raw = map.next_value::<&RawValue>()?;
                        id = raw.get().trim_matches('"').parse().ok().map(Salvaged::Answer);
                    }
                    _ => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            self.0.set(id.or(self.0.get()));
            Ok(())
        }
    }

    let found = Cell::new(None);
    // The text is cut off, so an error is expected; what was found before it counts.
    drop(serde_json::Deserializer::from_slice(head).deserialize_map(Until(&found)));
    found.get()
}

fn from_tail(tail: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(tail);
    let member = text.trim_end().strip_suffix('}')?.trim_end();
    let (before, value) = member.rsplit_once(':')?;
    // A longer name may end in the same characters, with the first quote escaped.
    let rest = before.trim_end().strip_suffix("\"id\"")?.trim_end();
    rest.ends_with([',', '{'])
        .then(|| value.trim().trim_matches('"').parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::{Salvaged, salvage};

    #[test]
    fn ids_of_cut_messages() {
        let check = |head: &str, tail: &str, want| {
            assert_eq!(salvage(head.as_bytes(), tail.as_bytes()), want, "{head} … {tail}");
        };
        check(
            r#"{"jsonrpc":"2.0","id":12,"result":{"content":"aaaa"#,
            "aaaa",
            Salvaged::Answer(12),
        );
        check(r#" {"id":"12","result":"a"#, "", Salvaged::Answer(12));
        check(
            r#"{"result":{"id":3,"x":"aaaa"#,
            r#"aaa"},"jsonrpc":"2.0","id": 7 } "#,
            Salvaged::Answer(7),
        );
        check(
            r#"{"result":{"id":3,"x":"aaaa"#,
            r#"aaa","id":3}}"#,
            Salvaged::Unclear,
        );
        check(
            r#"{"id":3,"method":"roots/list","params":{"aaaa"#,
            "",
            Salvaged::Other,
        );
        check(
            r#"{"method":"notifications/message","params":{"aaaa"#,
            r#""id":3}"#,
            Salvaged::Other,
        );
        // The end of an id that is cut off would belong to another call.
        check(r#"{"id":1"#, r#"2,"result":""}"#, Salvaged::Unclear);
        check(r#"{"id":12,"res"#, r#"ult":""}"#, Salvaged::Unclear);
        check(r#"{"result":"aaa"#, r#"aaa","x\"id":7}"#, Salvaged::Unclear);
        check("garbage", "garbage", Salvaged::Other);
    }
}
