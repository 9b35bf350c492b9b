//! Reading one item of `tools/list`.

use std::sync::Arc;

use domain::{Digest, Hints, parse_unique};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Longest name of a tool that is taken, in bytes; the specification recommends at most 128 characters.
const MAX_NAME: usize = 256;
/// Largest definition, in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// What the digest is taken over.
const DIGESTED: [&str; 6] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
];

/// One well-formed tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The upstream's own name.
    pub name: Arc<str>,
    /// The item as it was received, byte for byte.
    pub raw: Arc<RawValue>,
    /// The digest of name, title, description, schemas and annotations in canonical form.
    pub digest: Digest,
    /// What the server says about it.
    pub hints: Hints,
    /// What is odd but does no harm, for people.
    pub oddities: Vec<String>,
    input: Box<RawValue>,
    output: Option<Box<RawValue>>,
}

/// An item that is not a tool. Says what is wrong, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}; it is left out", match name { Some(name) => format!("tool {name:?}: "), None => String::new() })]
pub struct Malformed {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What is wrong.
    pub reason: String,
}

#[derive(Deserialize)]
struct Schemas<'a> {
    #[serde(borrow, rename = "inputSchema")]
    input: &'a RawValue,
    #[serde(borrow, default, rename = "outputSchema")]
    output: Option<&'a RawValue>,
}

impl Tool {
    /// Reads an item of `tools/list`.
    ///
    /// # Errors
    /// It is no object, has no usable name, no schema, or repeats a key.
    pub fn read(raw: Arc<RawValue>) -> Result<Self, Malformed> {
        let text = raw.get();
        let nameless = |reason: String| Malformed { name: None, reason };
        if text.len() > MAX_BYTES {
            return Err(nameless(format!(
                "the definition has {} bytes, at most {MAX_BYTES} are taken",
                text.len()
            )));
        }
        let value = parse_unique(text).map_err(|e| nameless(format!("cannot be read: {e}")))?;
        let Value::Object(item) = value else {
            return Err(nameless("an item is not an object".to_owned()));
        };
        let name = match item.get("name") {
            Some(Value::String(name)) if name.is_empty() => {
                return Err(nameless("the name is empty".to_owned()));
            }
            Some(Value::String(name)) if name.len() > MAX_NAME => {
                return Err(nameless(format!(
                    "the name has {} bytes, at most {MAX_NAME} are taken",
                    name.len()
                )));
            }
            Some(Value::String(name)) => name.clone(),
            Some(_) => return Err(nameless("the name is not a string".to_owned())),
            None => return Err(nameless("an item has no name".to_owned())),
        };
        let malformed = |reason: &str| Malformed {
            name: Some(name.clone()),
            reason: reason.to_owned(),
        };
        match item.get("inputSchema") {
            Some(Value::Object(_)) => {}
            Some(_) => return Err(malformed("inputSchema is not an object")),
            None => return Err(malformed("inputSchema is missing")),
        }
        if matches!(item.get("outputSchema"), Some(schema) if !schema.is_object() && !schema.is_null()) {
            return Err(malformed("outputSchema is not an object"));
        }
        let schemas: Schemas<'_> =
            serde_json::from_str(text).map_err(|e| malformed(&format!("cannot be read: {e}")))?;
        let (input, output) = (schemas.input.to_owned(), schemas.output.map(ToOwned::to_owned));
        let mut oddities = Vec::new();
        let hints = hints(&item, &mut oddities);
        Ok(Self {
            name: name.as_str().into(),
            digest: digest(item),
            hints,
            oddities,
            input,
            output,
            raw,
        })
    }

    /// Its input schema, as received.
    #[must_use]
    pub fn input_schema(&self) -> &RawValue {
        &self.input
    }

    /// Its output schema, as received.
    #[must_use]
    pub fn output_schema(&self) -> Option<&RawValue> {
        self.output.as_deref().filter(|schema| schema.get() != "null")
    }
}

fn digest(mut item: Map<String, Value>) -> Digest {
    item.retain(|key, _| DIGESTED.contains(&key.as_str()));
    Digest::of_json(&Value::Object(item))
}

/// Reads the annotations; one of the wrong type says nothing and is reported.
fn hints(item: &Map<String, Value>, oddities: &mut Vec<String>) -> Hints {
    let annotations = match item.get("annotations") {
        None | Some(Value::Null) => return Hints::default(),
        Some(Value::Object(annotations)) => annotations,
        Some(_) => {
            oddities.push("annotations are not an object and are ignored".to_owned());
            return Hints::default();
        }
    };
    let mut flag = |key: &str| match annotations.get(key) {
        None | Some(Value::Null) => None,
        Some(Value::Bool(flag)) => Some(*flag),
        Some(_) => {
            oddities.push(format!("annotation {key} is not a boolean and is ignored"));
            None
        }
    };
    Hints {
        read_only: flag("readOnlyHint"),
        destructive: flag("destructiveHint"),
        idempotent: flag("idempotentHint"),
        open_world: flag("openWorldHint"),
    }
}
