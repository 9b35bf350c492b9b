//! Tool arguments repeated in HTTP headers (2026-07-28, Streamable HTTP "Custom Headers from Tool Parameters").

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "mcp-param-";
/// The largest integer a double holds exactly.
const SAFE_INTEGER: i64 = (1 << 53) - 1;
/// Schemas nest; a hostile one does so without end.
const MAX_DEPTH: usize = 64;

/// Which arguments of a tool go into which headers. Made once per definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamHeaders(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    path: Vec<String>,
    header: HeaderName,
}

/// The annotations of a tool break the rules; a client over Streamable HTTP must not offer the tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamHeaderError {
    /// The schema is not JSON.
    #[error("the schema is not valid json")]
    Schema,
    /// The name is empty or not an HTTP token.
    #[error("x-mcp-header `{0}` is not a header name")]
    Name(String),
    /// Two annotations name the same header.
    #[error("x-mcp-header `{0}` occurs twice")]
    Twice(String),
    /// The property is not declared as string, integer or boolean.
    #[error("x-mcp-header on `{0}`, which is not declared as string, integer or boolean")]
    Type(String),
    /// The annotation is not reached from the root through `properties` alone.
    #[error("x-mcp-header under `{0}`, where no argument has a fixed place")]
    Place(String),
    /// The schema nests too deeply to be searched.
    #[error("the schema nests more than {MAX_DEPTH} levels deep")]
    Depth,
    /// An argument is not of the declared kind.
    #[error("argument `{0}` cannot be put into a header: it must be a string, a safe integer or a boolean")]
    Value(String),
}

impl ParamHeaders {
    /// Reads the annotations of an input schema.
    pub fn from_schema(schema: &RawValue) -> Result<Self, ParamHeaderError> {
        // Nearly every schema has none, and is not parsed for it.
        if !schema.get().contains(ANNOTATION) && !schema.get().contains("\\u00") {
            return Ok(Self::default());
        }
        let schema: Value = serde_json::from_str(schema.get()).map_err(|_| ParamHeaderError::Schema)?;
        let mut found = Self::default();
        let mut names = HashSet::new();
        found.collect(&schema, &mut Vec::new(), &mut names)?;
        Ok(found)
    }

    /// Whether there is nothing to repeat.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers for a call with these arguments. Arguments that are absent or null have none.
    pub fn values(&self, arguments: &RawValue) -> Result<Vec<(HeaderName, HeaderValue)>, ParamHeaderError> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let arguments: Value = serde_json::from_str(arguments.get()).map_err(|_| ParamHeaderError::Schema)?;
        let mut headers = Vec::with_capacity(self.0.len());
        for entry in &self.0 {
            let value = entry
                .path
                .iter()
                .try_fold(&arguments, |value, key| value.get(key));
            let text = match value {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => encode(text),
                Some(Value::Bool(flag)) => encode(if *flag { "true" } else { "false" }),
                Some(Value::Number(number)) => encode(
                    &integer(number)
                        .ok_or_else(|| ParamHeaderError::Value(entry.path.join(".")))?
                        .to_string(),
                ),
                Some(Value::Array(_) | Value::Object(_)) => {
                    return Err(ParamHeaderError::Value(entry.path.join(".")));
                }
            };
            headers.push((entry.header.clone(), text));
        }
        Ok(headers)
    }

    fn collect(
        &mut self,
        schema: &Value,
        path: &mut Vec<String>,
        names: &mut HashSet<String>,
    ) -> Result<(), ParamHeaderError> {
        if path.len() > MAX_DEPTH {
            return Err(ParamHeaderError::Depth);
        }
        let Value::Object(schema) = schema else {
            return Ok(());
        };
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                (ANNOTATION, name) => self.annotate(schema, name, path, names)?,
                ("properties", Value::Object(properties)) => {
                    for (property, schema) in properties {
                        path.push(property.clone());
                        self.collect(schema, path, names)?;
                        path.pop();
                    }
                }
                // These hold data, not schemas.
                ("const" | "enum" | "default" | "examples", _) => {}
                (_, value) => nowhere(keyword, value, is_map(keyword), MAX_DEPTH)?,
            }
        }
        Ok(())
    }

    fn annotate(
        &mut self,
        schema: &serde_json::Map<String, Value>,
        name: &Value,
        path: &[String],
        names: &mut HashSet<String>,
    ) -> Result<(), ParamHeaderError> {
        let Value::String(name) = name else {
            return Err(ParamHeaderError::Name(name.to_string()));
        };
        let header = HeaderName::from_bytes(format!("{PREFIX}{name}").as_bytes())
            .ok()
            .filter(|_| !name.is_empty())
            .ok_or_else(|| ParamHeaderError::Name(name.clone()))?;
        if path.is_empty() {
            return Err(ParamHeaderError::Place("the root".to_owned()));
        }
        if !schema.get("type").is_some_and(is_primitive) {
            return Err(ParamHeaderError::Type(path.join(".")));
        }
        if !names.insert(name.to_ascii_lowercase()) {
            return Err(ParamHeaderError::Twice(name.clone()));
        }
        self.0.push(Entry {
            path: path.to_vec(),
            header,
        });
        Ok(())
    }
}

/// A value as a header carries it: as it is where that is safe, else in base64 between markers ("Value Encoding").
pub fn encode(text: &str) -> HeaderValue {
    let unsafe_edge = text.starts_with(' ') || text.ends_with(' ');
    let looks_marked = text.starts_with("=?base64?") && text.ends_with("?=");
    let plain = text.bytes().all(|b| matches!(b, 0x20..=0x7e)) && !unsafe_edge && !looks_marked;
    let value = if plain {
        HeaderValue::from_str(text)
    } else {
        marked(text)
    };
    // Both alphabets are within what a header value may hold.
    value.unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn marked(text: &str) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text)))
}

/// Keywords whose values map names to schemas, so that their keys are not keywords.
fn is_map(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
    )
}

/// Refuses an annotation anywhere below.
fn nowhere(under: &str, value: &Value, names: bool, depth: usize) -> Result<(), ParamHeaderError> {
    let depth = depth.checked_sub(1).ok_or(ParamHeaderError::Depth)?;
    match value {
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| nowhere(under, item, false, depth)),
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| match key.as_str() {
            ANNOTATION if !names => Err(ParamHeaderError::Place(under.to_owned())),
            "const" | "enum" | "default" | "examples" if !names => Ok(()),
            key => nowhere(under, value, !names && is_map(key), depth),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// `string`, `integer` or `boolean`, or a list of these that may also allow null.
fn is_primitive(kind: &Value) -> bool {
    let named = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Value::Array(kinds) => {
            kinds.iter().any(named)
                && kinds
                    .iter()
                    .all(|kind| named(kind) || kind.as_str() == Some("null"))
        }
        kind => named(kind),
    }
}

fn integer(number: &serde_json::Number) -> Option<i64> {
    let exact = number.as_i64().or_else(|| {
        // `42.0` is an integer to JSON Schema.
        let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
        format!("{float:.0}").parse().ok()
    })?;
    (-SAFE_INTEGER..=SAFE_INTEGER).contains(&exact).then_some(exact)
}

#[cfg(test)]
mod tests {
    use super::{ParamHeaderError, ParamHeaders, encode};
    use crate::wire::raw;
    use serde_json::{Value, json};

    fn plan(properties: Value) -> Result<ParamHeaders, ParamHeaderError> {
        ParamHeaders::from_schema(&raw(&json!({"type": "object", "properties": properties})).unwrap())
    }

    #[test]
    fn values_are_encoded() {
        let check = |text: &str, want: &str| assert_eq!(encode(text), want, "{text:?}");
        check("us-west1", "us-west1");
        check("us west 1", "us west 1");
        check("", "");
        check("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=");
        check(" padded ", "=?base64?IHBhZGRlZCA=?=");
        check("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=");
        check("\tindented", "=?base64?CWluZGVudGVk?=");
        check("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
        check("=?base64?open", "=?base64?open");
    }

    #[test]
    fn arguments_become_headers() {
        let plan = plan(json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": ["integer", "null"], "x-mcp-header": "Count"},
            "deep": {"type": "object", "properties": {"flag": {"type": "boolean", "x-mcp-header": "Flag"}}},
            "x-mcp-header": {"type": "string"},
            "query": {"type": "string", "default": {"x-mcp-header": "not an annotation"}},
        }))
        .unwrap();
        let check = |arguments: Value, want: &[(&str, &str)]| {
            let headers = plan.values(&raw(&arguments).unwrap()).unwrap();
            let headers: Vec<_> = headers
                .iter()
                .map(|(n, v)| (n.as_str(), v.to_str().unwrap()))
                .collect();
            assert_eq!(headers, want);
        };
        check(
            json!({"region": "eu", "count": 42.0, "deep": {"flag": false}, "query": "q"}),
            &[
                ("mcp-param-region", "eu"),
                ("mcp-param-count", "42"),
                ("mcp-param-flag", "false"),
            ],
        );
        check(json!({"region": null, "deep": {}}), &[]);
        check(json!({}), &[]);
        for bad in [
            json!({"count": 1.5}),
            json!({"count": 1u64 << 53}),
            json!({"region": {}}),
        ] {
            assert!(plan.values(&raw(&bad).unwrap()).is_err(), "{bad}");
        }
    }

    #[test]
    fn annotations_that_break_the_rules() {
        let check = |properties: Value, want: &str| {
            let error = plan(properties.clone())
                .expect_err(&properties.to_string())
                .to_string();
            assert!(error.contains(want), "{properties}: {error}");
        };
        let name = |name: &str| json!({"p": {"type": "string", "x-mcp-header": name}});
        for bad in ["", "a b", "a:b", "é", "a\u{1}b", "a\r\nb"] {
            check(name(bad), "not a header name");
        }
        check(
            json!({"p": {"type": "string", "x-mcp-header": 3}}),
            "not a header name",
        );
        for kind in [
            json!("number"),
            json!("object"),
            json!("array"),
            json!("null"),
            json!(["string", "number"]),
        ] {
            check(json!({"p": {"type": kind, "x-mcp-header": "P"}}), "not declared");
        }
        check(json!({"p": {"x-mcp-header": "P"}}), "not declared");
        let twice = |other: &str| json!({"a": {"type": "string", "x-mcp-header": "P"}, "b": {"type": "string", "x-mcp-header": other}});
        check(twice("P"), "occurs twice");
        check(twice("p"), "occurs twice");
        let inner = json!({"type": "string", "x-mcp-header": "P"});
        check(json!({"a": {"type": "array", "items": inner}}), "under `items`");
        check(json!({"a": {"oneOf": [inner]}}), "under `oneOf`");
        check(json!({"a": {"$defs": {"x": inner}}}), "under `$defs`");
        check(json!({"a": {"if": {"properties": {"b": inner}}}}), "under `if`");
        check(
            json!({"a": {"additionalProperties": inner}}),
            "under `additionalProperties`",
        );
    }
}
