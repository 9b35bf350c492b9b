//! What a schema may cost: its size, its depth, and how far its references lead, looked at before it is compiled.

use std::collections::{HashMap, HashSet};

use domain::parse_unique;
use percent_encoding::percent_decode_str;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::problem::{SchemaProblem, excerpt};

/// Largest schema, in bytes.
const MAX_BYTES: usize = 512 * 1024;
/// Deepest nesting of a schema's text.
const MAX_DEPTH: usize = 64;
/// Most values in a schema's text.
const MAX_VALUES: usize = 50_000;
/// Longest way through a schema by keywords and references, before it closes a circle.
const MAX_PATH: usize = 192;
/// Most subschemas that one value can be held against, every reference followed.
const MAX_COST: u64 = 1_000_000;
/// Deepest value a schema with references is applied to: a circle is gone round once for each level.
const MAX_RECURSION: usize = 48;

/// Keywords whose subschemas apply to the same value, or to its parts; all count for cost and path.
const ONE: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const MAPS: &[&str] = &[
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
];
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// Most steps that are taken to say what is wrong; that a value is wrong is found out in far fewer.
const MAX_SEARCH: u64 = 20_000_000;

/// What is known of a schema besides its compiled form.
#[derive(Debug)]
pub(super) struct Shape {
    names: HashSet<Box<str>>,
    refers: bool,
    cost: Cost,
}

/// What holding a value against a schema may take.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Subschemas, every reference followed once round.
    subschemas: u64,
    /// Ways by which going round once leads to the beginning again.
    returns: u64,
}

/// How large a value is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Levels of objects and lists.
    pub(super) depth: usize,
    /// Scalars, objects and lists.
    pub(super) values: usize,
}

impl Shape {
    /// Reads a schema and refuses one that could cost too much.
    pub(super) fn read(raw: &RawValue) -> Result<(Value, Self), SchemaProblem> {
        let text = raw.get();
        within("bytes", text.len(), MAX_BYTES)?;
        let schema = parse_unique(text).map_err(|e| SchemaProblem::Unreadable {
            reason: excerpt(&e.to_string()),
        })?;
        match &schema {
            Value::Object(_) => {}
            Value::Null => return Err(SchemaProblem::NotAnObject { found: "null" }),
            Value::Bool(_) => return Err(SchemaProblem::NotAnObject { found: "a boolean" }),
            Value::Number(_) => return Err(SchemaProblem::NotAnObject { found: "a number" }),
            Value::String(_) => return Err(SchemaProblem::NotAnObject { found: "a string" }),
            Value::Array(_) => return Err(SchemaProblem::NotAnObject { found: "a list" }),
        }
        let size = measure(&schema);
        within("levels", size.depth, MAX_DEPTH)?;
        within("values", size.values, MAX_VALUES)?;
        let mut index = Index::default();
        index.collect(&schema);
        let mut walk = Walk {
            index: &index,
            known: HashMap::new(),
            open: HashSet::new(),
        };
        let cost = walk.cost(&schema, &schema, 0)?;
        if cost.subschemas > MAX_COST {
            let found = usize::try_from(cost.subschemas).unwrap_or(usize::MAX);
            let limit = usize::try_from(MAX_COST).unwrap_or(usize::MAX);
            return Err(SchemaProblem::TooLarge {
                what: "subschemas once its references are followed",
                found,
                limit,
            });
        }
        let Index { names, refers, .. } = index;
        Ok((schema, Self { names, refers, cost }))
    }

    /// Whether all that is wrong with a value of this size can be looked for: every alternative is gone into, so the ways through a
    /// circle of references multiply with each level.
    pub(super) fn searchable(&self, size: Size) -> bool {
        let levels = u32::try_from(size.depth).unwrap_or(u32::MAX);
        let ways = self.cost.returns.max(1).saturating_pow(levels);
        let values = u64::try_from(size.values).unwrap_or(u64::MAX);
        self.cost.subschemas.saturating_mul(ways).saturating_mul(values) <= MAX_SEARCH
    }

    /// Whether the schema itself names this property.
    pub(super) fn names(&self, property: &str) -> bool {
        self.names.contains(property)
    }

    /// The deepest value it may be applied to.
    pub(super) const fn max_instance_depth(&self) -> usize {
        if self.refers { MAX_RECURSION } else { usize::MAX }
    }
}

/// Measures a value.
pub(super) fn measure(value: &Value) -> Size {
    let mut size = Size { depth: 0, values: 1 };
    let mut add = |inner: Size| {
        size.depth = size.depth.max(inner.depth);
        size.values += inner.values;
    };
    match value {
        Value::Object(map) => map.values().for_each(|v| add(measure(v))),
        Value::Array(items) => items.iter().for_each(|v| add(measure(v))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return size,
    }
    size.depth += 1;
    size
}

fn within(what: &'static str, found: usize, limit: usize) -> Result<(), SchemaProblem> {
    if found > limit {
        Err(SchemaProblem::TooLarge { what, found, limit })
    } else {
        Ok(())
    }
}

/// What the text of a schema names: properties, anchors, embedded resources.
#[derive(Default)]
struct Index<'a> {
    names: HashSet<Box<str>>,
    anchors: HashMap<&'a str, &'a Value>,
    resources: HashMap<&'a str, &'a Value>,
    refers: bool,
}

impl<'a> Index<'a> {
    fn collect(&mut self, value: &'a Value) {
        match value {
            Value::Object(map) => {
                self.names_of(map);
                for key in ["$anchor", "$dynamicAnchor"] {
                    if let Some(anchor) = map.get(key).and_then(Value::as_str) {
                        self.anchors.insert(anchor, value);
                    }
                }
                if let Some(id) = map.get("$id").and_then(Value::as_str) {
                    match id.strip_prefix('#') {
                        Some(anchor) => self.anchors.insert(anchor, value),
                        None => self.resources.insert(id, value),
                    };
                }
                self.refers |= REFERENCES.iter().any(|key| map.contains_key(*key));
                map.values().for_each(|v| self.collect(v));
            }
            Value::Array(items) => items.iter().for_each(|v| self.collect(v)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn names_of(&mut self, map: &Map<String, Value>) {
        for key in [
            "properties",
            "dependentSchemas",
            "dependentRequired",
            "dependencies",
        ] {
            if let Some(Value::Object(properties)) = map.get(key) {
                self.names
                    .extend(properties.keys().map(|name| name.as_str().into()));
            }
        }
        if let Some(Value::Array(required)) = map.get("required") {
            self.names
                .extend(required.iter().filter_map(Value::as_str).map(Box::from));
        }
    }
}

/// Counts the subschemas behind a schema. A circle is gone round once.
struct Walk<'a> {
    index: &'a Index<'a>,
    known: HashMap<*const Value, Cost>,
    open: HashSet<*const Value>,
}

impl<'a> Walk<'a> {
    fn cost(&mut self, schema: &'a Value, base: &'a Value, path: usize) -> Result<Cost, SchemaProblem> {
        let Value::Object(map) = schema else {
            return Ok(Cost {
                subschemas: 1,
                returns: 0,
            });
        };
        let key = std::ptr::from_ref(schema);
        if let Some(cost) = self.known.get(&key) {
            return Ok(*cost);
        }
        within("steps on one way through its references", path, MAX_PATH)?;
        if !self.open.insert(key) {
            return Ok(Cost {
                subschemas: 1,
                returns: 1,
            });
        }
        let base = if map.contains_key("$id") { schema } else { base };
        let references = REFERENCES
            .iter()
            .filter_map(|key| map.get(*key))
            .filter_map(Value::as_str);
        let referred: Vec<_> = references
            .filter_map(|reference| self.resolve(reference, base))
            .collect();
        let mut total = Cost {
            subschemas: 1,
            returns: 0,
        };
        for (next, base) in subschemas(map).map(|next| (next, base)).chain(referred) {
            let cost = self.cost(next, base, path + 1)?;
            total.subschemas = total.subschemas.saturating_add(cost.subschemas);
            total.returns = total.returns.saturating_add(cost.returns);
        }
        self.open.remove(&key);
        self.known.insert(key, total);
        Ok(total)
    }

    fn resolve(&self, reference: &str, base: &'a Value) -> Option<(&'a Value, &'a Value)> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if resource.is_empty() {
            base
        } else {
            self.index.resources.get(resource).copied()?
        };
        let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            base.pointer(&fragment)?
        } else {
            self.index.anchors.get(&*fragment).copied()?
        };
        Some((target, base))
    }
}

fn subschemas(map: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let one = ONE
        .iter()
        .filter_map(|key| map.get(*key))
        .filter(|v| v.is_object());
    let lists = LISTS
        .iter()
        .filter_map(|key| map.get(*key))
        .filter_map(Value::as_array)
        .flatten();
    let maps = MAPS
        .iter()
        .filter_map(|key| map.get(*key))
        .filter_map(Value::as_object)
        .flat_map(Map::values);
    one.chain(lists).chain(maps)
}
