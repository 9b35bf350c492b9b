//! JSON whose object keys are unique at every depth: a text that repeats a key shows different things to different readers,
//! so it is refused where a person or a digest must be able to rely on what was read.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads JSON, refusing repeated keys.
///
/// # Errors
/// The text is not JSON, is nested deeper than 128 levels or repeats a key.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<Key>()? {
            let value = map.next_value_seed(Self)?;
            if object.insert(key.0, value).is_some() {
                return Err(A::Error::custom("an object key stands twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_what_serde_json_reads_but_no_key_twice() {
        let check = |text: &str, ok: bool| {
            let strict = parse(text);
            assert_eq!(strict.is_ok(), ok, "{text}");
            if let Ok(value) = strict {
                assert_eq!(
                    value,
                    serde_json::from_str::<serde_json::Value>(text).unwrap(),
                    "{text}"
                );
            }
        };
        check(
            r#"{"a":[1,-2,1.5,1e300,18446744073709551615,null,true,"x\n"],"b":{"a":{}}}"#,
            true,
        );
        check(r#"{"a":1,"a":1}"#, false);
        check(r#"{"a":1,"\u0061":1}"#, false);
        check(r#"[{"x":{"a":1,"b":2,"a":3}}]"#, false);
        check("{} {}", false);
        check(&"[".repeat(200), false);
    }
}
