//! The fields of a capability's input, read from its schema.

use gateway::Capability;
use serde_json::Value;

/// What a field of the input is on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Switch,
    Texts,
    /// JSON text.
    Json,
    /// How a connection proves itself: secrets, and so never plain arguments.
    Auth,
    /// Headers, whose values are secrets.
    Headers,
}

/// A field of the input.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) required: bool,
    pub(super) help: String,
    pub(super) choices: Vec<String>,
    pub(super) positional: bool,
}

/// Fields that a verb acts on: given by position although no path names them.
const ACTED_ON: &[&str] = &["name", "handle", "decision"];

/// The fields of a capability's input: first those given by position, those of the path in its order.
pub(super) fn fields(capability: &Capability) -> Vec<Field> {
    let schema = &capability.input;
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let path = capability.declaration.path;
    let place = |name: &str| path.find(&format!("{{{name}}}"));
    let mut fields: Vec<Field> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let (kind, required) = (kind(schema, name, property), required.contains(&name.as_str()));
            Field {
                name: name.clone(),
                kind,
                required,
                help: help(property),
                choices: choices(schema, property),
                positional: place(name).is_some()
                    || (required && kind == Kind::Text && ACTED_ON.contains(&name.as_str())),
            }
        })
        .collect();
    fields.sort_by_key(|field| (!field.positional, place(&field.name).unwrap_or(usize::MAX)));
    fields
}

/// Help is a line: without the full stop that ends a sentence elsewhere.
fn help(property: &Value) -> String {
    let text = property["description"].as_str().unwrap_or_default();
    let line = text.split('\n').collect::<Vec<_>>().join(" ");
    line.strip_suffix('.').unwrap_or(&line).to_owned()
}

fn kind(schema: &Value, name: &str, property: &Value) -> Kind {
    match name {
        "auth" => return Kind::Auth,
        "headers" => return Kind::Headers,
        _ => {}
    }
    let plain = resolve(schema, property);
    let types: Vec<&str> = match &plain["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several
            .iter()
            .filter_map(Value::as_str)
            .filter(|t| *t != "null")
            .collect(),
        _ => Vec::new(),
    };
    match types.as_slice() {
        ["string"] => Kind::Text,
        ["integer" | "number"] => Kind::Number,
        ["boolean"] => Kind::Switch,
        ["array"] if resolve(schema, &plain["items"])["type"] == "string" => Kind::Texts,
        _ if !choices(schema, property).is_empty() => Kind::Text,
        _ => Kind::Json,
    }
}

/// The words of a closed set, however schemars writes it.
fn choices(schema: &Value, property: &Value) -> Vec<String> {
    let plain = resolve(schema, property);
    let listed = plain["enum"].as_array().into_iter().flatten();
    let described = plain["oneOf"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| &one["const"]);
    let words = listed.chain(described).filter_map(Value::as_str);
    // No API takes a command, so there is nothing to choose it for.
    words.filter(|word| *word != "stdio").map(str::to_owned).collect()
}

/// Follows a local reference, and looks through "this or null".
fn resolve<'a>(schema: &'a Value, property: &'a Value) -> &'a Value {
    if let Some(inner) = property["anyOf"]
        .as_array()
        .and_then(|any| any.iter().find(|one| one["type"] != "null"))
    {
        return resolve(schema, inner);
    }
    match property["$ref"]
        .as_str()
        .and_then(|reference| schema.pointer(reference.trim_start_matches('#')))
    {
        Some(target) => target,
        None => property,
    }
}
