//! YAML and TOML through serde, with a budget: aliases that multiply stop at the limit instead of filling memory.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{Budget, Format};
use crate::import::error::ImportError;

pub(super) fn read_yaml(text: &str, budget: &mut Budget) -> Result<Value, ImportError> {
    let shared = RefCell::new(budget);
    let root = Seed {
        budget: &shared,
        path: Vec::new(),
    };
    root.deserialize(serde_yaml_ng::Deserializer::from_str(text))
        .map_err(|error| {
            if let Some(exceeded) = shared.borrow_mut().exceeded.take() {
                return exceeded;
            }
            let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
            ImportError::Syntax {
                format: Format::Yaml,
                line,
                column,
                problem: error.to_string(),
            }
        })
}

pub(super) fn read_toml(text: &str, budget: &mut Budget) -> Result<Value, ImportError> {
    let shared = RefCell::new(budget);
    let root = Seed {
        budget: &shared,
        path: Vec::new(),
    };
    let read = toml::Deserializer::parse(text).and_then(|deserializer| root.deserialize(deserializer));
    read.map_err(|error| {
        if let Some(exceeded) = shared.borrow_mut().exceeded.take() {
            return exceeded;
        }
        // The error's own display quotes the line, which may hold a secret.
        let (line, column) = error.span().map_or((0, 0), |span| position(text, span.start));
        ImportError::Syntax {
            format: Format::Toml,
            line,
            column,
            problem: error.message().to_owned(),
        }
    })
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (line, column)
}

struct Seed<'a, 'b> {
    budget: &'a RefCell<&'b mut Budget>,
    path: Vec<String>,
}

/// A key of any scalar type, as text.
struct Key;

impl Seed<'_, '_> {
    fn child(&self, key: String) -> Self {
        let mut path = self.path.clone();
        path.push(key);
        Seed {
            budget: self.budget,
            path,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if !self.budget.borrow_mut().spend(self.path.len()) {
            return Err(D::Error::custom("limit exceeded"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or_else(|| Value::String(value.to_string()), Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.child(items.len().to_string()))? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key_seed(Key)? {
            let value = access.next_value_seed(self.child(key.clone()))?;
            self.budget.borrow_mut().insert(&mut map, &self.path, key, value);
        }
        merge(&mut map);
        Ok(Value::Object(map))
    }

    /// A YAML tag (`!name value`): the value counts, the tag does not.
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        let (_, content) = access.variant_seed(Key)?;
        content.newtype_variant_seed(self)
    }
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<String, E> {
        Ok(key.to_owned())
    }

    fn visit_bool<E>(self, key: bool) -> Result<String, E> {
        Ok(key.to_string())
    }

    fn visit_i64<E>(self, key: i64) -> Result<String, E> {
        Ok(key.to_string())
    }

    fn visit_u64<E>(self, key: u64) -> Result<String, E> {
        Ok(key.to_string())
    }

    fn visit_f64<E>(self, key: f64) -> Result<String, E> {
        Ok(key.to_string())
    }

    fn visit_unit<E>(self) -> Result<String, E> {
        Ok("null".to_owned())
    }
}

/// YAML's merge key: `<<` gives what the object does not say itself.
fn merge(map: &mut Map<String, Value>) {
    let given = match map.get("<<") {
        Some(Value::Object(one)) => vec![one.clone()],
        Some(Value::Array(several)) => several
            .iter()
            .filter_map(|one| one.as_object().cloned())
            .collect(),
        _ => return,
    };
    map.remove("<<");
    for (key, value) in given.into_iter().flatten() {
        map.entry(key).or_insert(value);
    }
}
