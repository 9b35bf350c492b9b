//! What is done with a tool's schema, and with its arguments before they are checked and decided about.

use std::sync::Arc;

use domain::Arguments;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::{Preset, PresetTool, Shape};
use crate::schema::Violation;

/// What a preset does for one tool. What it says is narrower than what the server says, never wider: arguments are checked against
/// both.
#[derive(Debug, Clone)]
pub struct Adapter {
    shapes: Vec<&'static Shape>,
}

impl Adapter {
    /// What a preset does for a tool; none where it does nothing.
    pub(super) fn of(preset: &'static Preset, tool: Option<&'static PresetTool>) -> Option<Self> {
        let own = tool.and_then(|tool| tool.shape.as_ref());
        let shapes: Vec<_> = preset.every_tool.as_ref().into_iter().chain(own).collect();
        (!shapes.is_empty()).then_some(Self { shapes })
    }

    /// The definition as callers see it; none where it stays as it is.
    #[must_use]
    pub fn definition(&self, raw: &RawValue) -> Option<Arc<RawValue>> {
        let mut definition: Value = serde_json::from_str(raw.get()).ok()?;
        let before = definition.clone();
        for shape in &self.shapes {
            if let Some(schema) = &shape.schema {
                *definition.get_mut("inputSchema")? = schema.clone();
            }
            if let Some(patch) = &shape.tighten {
                tighten(definition.get_mut("inputSchema")?, patch);
            }
            if let Some(hint) = &shape.hint {
                let said = definition.get("description").and_then(Value::as_str);
                let text = said.map_or_else(|| hint.clone(), |said| format!("{hint} {said}"));
                definition
                    .as_object_mut()?
                    .insert("description".to_owned(), text.into());
            }
        }
        (definition != before)
            .then(|| to_raw_value(&definition).ok().map(Arc::from))
            .flatten()
    }

    /// The arguments as they are checked, decided about, recorded and sent.
    #[must_use]
    pub fn arguments(&self, given: Arguments) -> Arguments {
        let mut value = given.value().clone();
        for shape in &self.shapes {
            rename(&mut value, shape);
            for list in &shape.list {
                value.pointer_mut(list).into_iter().for_each(to_list);
            }
            for objects in &shape.objects {
                value
                    .pointer_mut(&objects.path)
                    .into_iter()
                    .for_each(|items| to_objects(items, &objects.key));
            }
            for strip in &shape.strip_prefix {
                if let Some(Value::String(text)) = value.pointer_mut(&strip.path)
                    && let Some(rest) = text.strip_prefix(&strip.prefix)
                {
                    *text = rest.to_owned();
                }
            }
        }
        if value == *given.value() {
            return given;
        }
        let raw = to_raw_value(&value).and_then(Arguments::new);
        raw.unwrap_or(given)
    }

    /// What no schema of a server says about arguments: names that are refused, and those that exclude each other.
    #[must_use]
    pub fn refusals(&self, arguments: &Value) -> Vec<Violation> {
        let mut found = Vec::new();
        let given = |name: &String| arguments.get(name).is_some();
        for shape in &self.shapes {
            for name in shape.refuse.iter().filter(|name| given(name)) {
                found.push(violation(name, "refused", "must be left out".to_owned()));
            }
            for names in &shape.exclusive {
                if let [first, _, ..] = *names.iter().filter(|name| given(name)).collect::<Vec<_>>() {
                    let constraint = format!("at most one of {} may be given", names.join(", "));
                    found.push(violation(first, "exclusive", constraint));
                }
            }
        }
        found
    }
}

fn violation(name: &str, keyword: &str, constraint: String) -> Violation {
    Violation {
        instance: format!("/{name}"),
        schema: String::new(),
        keyword: keyword.to_owned(),
        constraint,
    }
}

/// A merge patch (RFC 7396), except that properties are only changed or taken away: one the server does not know is not made up.
fn tighten(schema: &mut Value, patch: &Value) {
    let (Value::Object(schema), Value::Object(patch)) = (schema, patch) else {
        return;
    };
    for (key, change) in patch {
        match (schema.get_mut(key), change) {
            (_, Value::Null) => {
                schema.remove(key);
            }
            (Some(Value::Object(properties)), Value::Object(changes)) if key == "properties" => {
                tighten_properties(properties, changes);
            }
            (None, _) if key == "properties" => {}
            (Some(there @ Value::Object(_)), Value::Object(_)) => tighten(there, change),
            (_, _) => {
                schema.insert(key.clone(), change.clone());
            }
        }
    }
    let known: Option<Vec<String>> = match schema.get("properties") {
        Some(Value::Object(properties)) => Some(properties.keys().cloned().collect()),
        _ => None,
    };
    if let (Some(known), Some(Value::Array(required))) = (known, schema.get_mut("required")) {
        required.retain(|name| {
            name.as_str()
                .is_none_or(|name| known.iter().any(|key| key == name))
        });
    }
}

fn tighten_properties(properties: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, change) in changes {
        if change.is_null() {
            properties.remove(name);
        } else if let Some(property) = properties.get_mut(name) {
            tighten(property, change);
        }
    }
}

/// Gives members their right names, at every depth, where the right one is not there too.
fn rename(value: &mut Value, shape: &Shape) {
    if shape.rename.is_empty() {
        return;
    }
    match value {
        Value::Object(members) => {
            for (wrong, right) in &shape.rename {
                if members.contains_key(wrong)
                    && !members.contains_key(right)
                    && let Some(held) = members.remove(wrong)
                {
                    members.insert(right.clone(), held);
                }
            }
            members.values_mut().for_each(|held| rename(held, shape));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, shape)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn to_list(value: &mut Value) {
    let Value::String(text) = value else { return };
    let listed = serde_json::from_str::<Vec<String>>(text).ok();
    *value = listed.unwrap_or_else(|| vec![text.clone()]).into();
}

fn to_objects(value: &mut Value, key: &str) {
    let Value::Array(items) = value else { return };
    for item in items.iter_mut().filter(|item| item.is_string()) {
        let held = item.take();
        *item = Value::Object(Map::from_iter([(key.to_owned(), held)]));
    }
}
