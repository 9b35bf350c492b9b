//! A JSON object read one level deep: keys are known, values stay the bytes they were.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::WireError;

/// An ordered JSON object whose values are untouched raw JSON. Keys are unique; a text that repeats a key is refused,
/// because two readers of it could see two different things.
#[derive(Clone, Debug, Default)]
pub struct Object(Vec<(Box<str>, Box<RawValue>)>);

/// Serializes a value to raw JSON; only values that JSON cannot express fail.
pub fn raw<T: Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, WireError> {
    serde_json::value::to_raw_value(value).map_err(WireError::from)
}

impl Object {
    /// An empty object.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads the top level of raw JSON; anything but an object with unique keys is an error.
    pub fn parse(text: &RawValue) -> Result<Self, WireError> {
        serde_json::from_str(text.get()).map_err(WireError::from)
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.0
            .iter()
            .find(|(name, _)| &**name == key)
            .map(|(_, value)| &**value)
    }

    /// The value under a key, if it is a JSON string.
    pub fn text(&self, key: &str) -> Option<String> {
        self.read(key)
    }

    /// The value under a key, decoded; `None` if absent or of another type.
    pub fn read<'a, T: Deserialize<'a>>(&'a self, key: &str) -> Option<T> {
        self.get(key)
            .and_then(|value| serde_json::from_str(value.get()).ok())
    }

    /// Sets a key, replacing its value in place or appending it.
    pub fn insert(&mut self, key: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(name, _)| &**name == key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key.into(), value)),
        }
    }

    /// Sets a key to a serialized value.
    pub fn set<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), WireError> {
        self.insert(key, raw(value)?);
        Ok(())
    }

    /// Sets a key to a serialized value, for building in one expression.
    pub fn with<T: Serialize + ?Sized>(mut self, key: &str, value: &T) -> Result<Self, WireError> {
        self.set(key, value)?;
        Ok(self)
    }

    /// Removes a key, returning its value.
    pub fn remove(&mut self, key: &str) -> Option<Box<RawValue>> {
        let at = self.0.iter().position(|(name, _)| &**name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// How many keys there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no keys.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole object as raw JSON.
    pub fn to_raw(&self) -> Result<Box<RawValue>, WireError> {
        raw(self)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shallow;

        impl<'de> Visitor<'de> for Shallow {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut object = Object::new();
                let mut seen = std::collections::HashSet::new();
                while let Some(key) = map.next_key::<Box<str>>()? {
                    // Small objects, the usual case, are compared without a set.
                    let repeated = if object.len() < 16 {
                        object.get(&key).is_some()
                    } else {
                        if seen.is_empty() {
                            seen.extend(object.0.iter().map(|(name, _)| name.clone()));
                        }
                        !seen.insert(key.clone())
                    };
                    if repeated {
                        return Err(A::Error::custom("an object key occurs twice"));
                    }
                    object.0.push((key, map.next_value()?));
                }
                Ok(object)
            }
        }

        deserializer.deserialize_map(Shallow)
    }
}
