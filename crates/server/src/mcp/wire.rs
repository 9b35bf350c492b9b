//! JSON-RPC 2.0 as it comes in: the envelope is parsed once, what is in it stays the bytes it was.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Deepest nesting of a body. Raw values are skipped without recursion, so this is where it is bounded.
const DEPTH: usize = 128;

/// One message of a client.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// Wants an answer.
    Request {
        /// Its id, a string or number.
        id: &'a RawValue,
        /// What is asked.
        method: Cow<'a, str>,
        /// With what.
        params: Option<&'a RawValue>,
    },
    /// Wants none.
    Notification {
        /// What is said.
        method: Cow<'a, str>,
        /// With what.
        params: Option<&'a RawValue>,
    },
    /// Answers a request of ours.
    Response {
        /// The id of that request.
        id: &'a RawValue,
        /// The result, or the error object.
        answer: Result<&'a RawValue, &'a RawValue>,
    },
}

/// Why a body is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadMessage {
    /// Not JSON, or not the same to every reader.
    #[error(
        "the body is not JSON, repeats a key, holds half of a surrogate pair (\\ud800 to \\udfff), or is nested more than {DEPTH} levels deep"
    )]
    Json,
    /// JSON, but no JSON-RPC 2.0 message.
    #[error("the body is not a JSON-RPC 2.0 request, notification or response")]
    Shape,
}

impl<'a> Message<'a> {
    /// Reads a message.
    pub(super) fn read(text: &'a str) -> Result<Self, BadMessage> {
        let members: Members<'a> = serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data if !text.trim_start().starts_with('{') => BadMessage::Shape,
            _ => BadMessage::Json,
        })?;
        if members.text("jsonrpc").as_deref() != Some("2.0") {
            return Err(BadMessage::Shape);
        }
        let id = members.get("id");
        if let Some(id) = id
            && !is_id(id)
        {
            return Err(BadMessage::Shape);
        }
        let params = members.get("params");
        match (members.get("method"), id) {
            (Some(method), id) => {
                let method = text_of(method).ok_or(BadMessage::Shape)?;
                Ok(match id {
                    Some(id) => Self::Request { id, method, params },
                    None => Self::Notification { method, params },
                })
            }
            (None, Some(id)) => match (members.get("result"), members.get("error")) {
                (Some(result), None) => Ok(Self::Response {
                    id,
                    answer: Ok(result),
                }),
                (None, Some(error)) => Ok(Self::Response {
                    id,
                    answer: Err(error),
                }),
                _ => Err(BadMessage::Shape),
            },
            (None, None) => Err(BadMessage::Shape),
        }
    }
}

/// Whether every reader sees the same in a text: no nesting deeper than allowed, and no half of a surrogate pair (RFC 8259 section
/// 8.2), which some readers keep, some replace and some refuse.
pub(super) fn unambiguous(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut in_string) = (0, 0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => match escape(bytes.get(at..).unwrap_or_default()) {
                Some(length) => at += length - 1,
                None => return false,
            },
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > DEPTH {
                    return false;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    true
}

/// The bytes of the escape that a text begins with, a pair of surrogates counting as one; none where it is half of one. Whether other
/// escapes are legal is for the parser to say.
fn escape(text: &[u8]) -> Option<usize> {
    match unit(text) {
        Some(0xD800..=0xDBFF) => {
            let second = text.get(6..).and_then(unit);
            matches!(second, Some(0xDC00..=0xDFFF)).then_some(12)
        }
        Some(0xDC00..=0xDFFF) => None,
        Some(_) => Some(6),
        None => Some(2),
    }
}

/// The code unit that a text begins with as `\uXXXX`.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value << 4 | u16::try_from(digit).ok()?)
    })
}

fn is_id(raw: &RawValue) -> bool {
    raw.get()
        .starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

/// A JSON string's text, without a copy where it has no escapes.
pub(super) fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// A JSON object read one level deep, in order. A repeated key is refused: two readers could see two different things.
#[derive(Debug, Default)]
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads an object; none for anything else.
    pub(super) fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// Reads params: absent ones are empty.
    pub(super) fn of_params(params: Option<&'a RawValue>) -> Option<Self> {
        params.map_or_else(|| Some(Self::default()), Self::read)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }

    pub(super) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).and_then(text_of)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }

    /// The object with only the members that `keep` keeps.
    pub(super) fn filtered(&self, keep: impl Fn(&str) -> bool) -> Box<RawValue> {
        let mut out = String::from("{");
        for (name, value) in self.iter().filter(|(name, _)| keep(name)) {
            if out.len() > 1 {
                out.push(',');
            }
            push_text(&mut out, name);
            out.push(':');
            out.push_str(value.get());
        }
        out.push('}');
        RawValue::from_string(out).unwrap_or_default()
    }
}

/// Writes a JSON string.
pub(super) fn push_text(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned()));
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shallow;

        impl<'de> Visitor<'de> for Shallow {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::with_capacity(4);
                while let Some(Key(key)) = map.next_key()? {
                    if members.len() >= MEMBERS || members.iter().any(|(name, _)| *name == key) {
                        return Err(A::Error::custom("a key stands twice, or there are too many"));
                    }
                    members.push((key, map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Shallow)
    }
}

/// Most members of an envelope, of params or of `_meta`: none of these is a place for data.
const MEMBERS: usize = 256;

struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadMessage, Message, unambiguous};

    #[test]
    fn messages() {
        let kind = |text: &str| match Message::read(text) {
            Ok(Message::Request { id, method, .. }) => format!("request {} {method}", id.get()),
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Response { id, answer }) => format!("response {} {}", id.get(), answer.is_ok()),
            Err(BadMessage::Json) => "json".to_owned(),
            Err(BadMessage::Shape) => "shape".to_owned(),
        };
        let cases = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
            (
                r#"{"jsonrpc":"2.0","id":"a\"b","method":"a\/b"}"#,
                r#"request "a\"b" a/b"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/x","params":{}}"#,
                "notification notifications/x",
            ),
            (r#"{"jsonrpc":"2.0","id":-7,"result":{}}"#, "response -7 true"),
            (
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#,
                "response 7 false",
            ),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "shape"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "shape"),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "shape"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "shape"),
            (r#"{"id":1,"method":"ping"}"#, "shape"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "json"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, "json"),
            ("[]", "shape"),
            ("5", "shape"),
            ("nonsense", "json"),
        ];
        for (text, want) in cases {
            assert_eq!(kind(text), want, "{text}");
        }
    }

    #[test]
    fn what_readers_may_see_differently() {
        let (open, close) = ("[".repeat(200), "{".repeat(200));
        let cases = [
            (format!("{}{}", "[".repeat(128), "]".repeat(128)), true),
            ("[".repeat(129), false),
            (format!("\"{open}\\\"{close}\""), true),
            (format!("\"{open}\\\\\",{open}"), false),
            ("[]".repeat(500), true),
            (r#""\ud83d\ude00""#.to_owned(), true),
            (r#""\uD83D\uDE00\uD83d\ude00""#.to_owned(), true),
            (r#""\ud83d""#.to_owned(), false),
            (r#""\ude00""#.to_owned(), false),
            (r#""\ude00\ud83d""#.to_owned(), false),
            (r#""\ud83d\ud83d\ude00""#.to_owned(), false),
            (r#""\ud83d ude00""#.to_owned(), false),
            (r#""\ud83dude00""#.to_owned(), false),
            (r#""\\ud83d""#.to_owned(), true),
            (r#""\\\ud83d""#.to_owned(), false),
            (r#""\ud7ff\ue000""#.to_owned(), true),
            (r#""\u00""#.to_owned(), true),
            ("\"\\".to_owned(), true),
        ];
        for (text, same) in cases {
            assert_eq!(unambiguous(&text), same, "{text}");
        }
    }
}
