//! Reading an object field by field, so that what nobody asked for can be listed.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::format::kind;
use super::notice::{Notices, Path};

/// An object being read. `null` counts as absent.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    aliases: Aliases,
    used: BTreeSet<&'a str>,
    path: Path,
}

/// Pairs of our name for a field and the client's.
pub(super) type Aliases = &'static [(&'static str, &'static str)];

impl<'a> Fields<'a> {
    pub(super) fn new(map: &'a Map<String, Value>, aliases: Aliases, path: Path) -> Self {
        Self {
            map,
            aliases,
            used: BTreeSet::new(),
            path,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.map
            .get(self.actual(key))
            .is_some_and(|value| !value.is_null())
    }

    /// The value of a field and its place; none the second time.
    pub(super) fn take(&mut self, key: &str) -> Option<(&'a Value, Path)> {
        let (key, value) = self.map.get_key_value(self.actual(key))?;
        let first = self.used.insert(key);
        (first && !value.is_null()).then(|| (value, self.path.child(key)))
    }

    pub(super) fn text(&mut self, key: &str, notices: &mut Notices) -> Option<&'a str> {
        let (value, path) = self.take(key)?;
        typed(value.as_str(), "a text", value, &path, notices)
    }

    pub(super) fn flag(&mut self, key: &str, notices: &mut Notices) -> Option<bool> {
        let (value, path) = self.take(key)?;
        typed(value.as_bool(), "true or false", value, &path, notices)
    }

    pub(super) fn object(
        &mut self,
        key: &str,
        notices: &mut Notices,
    ) -> Option<(&'a Map<String, Value>, Path)> {
        let (value, path) = self.take(key)?;
        typed(value.as_object(), "an object", value, &path, notices).map(|map| (map, path))
    }

    /// A list of texts; items of other types are reported and left out.
    pub(super) fn texts(&mut self, key: &str, notices: &mut Notices) -> Option<Vec<String>> {
        let (value, path) = self.take(key)?;
        let items = typed(value.as_array(), "a list of texts", value, &path, notices)?;
        let texts = items.iter().enumerate().filter_map(|(index, item)| {
            typed(item.as_str(), "a text", item, &path.item(index), notices).map(str::to_owned)
        });
        Some(texts.collect())
    }

    /// Fields nobody took, in the order of the file.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.map
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .filter(|(key, _)| !self.used.contains(key))
    }

    fn actual<'k>(&self, key: &'k str) -> &'k str {
        self.aliases
            .iter()
            .find(|(ours, _)| *ours == key)
            .map_or(key, |(_, theirs)| theirs)
    }
}

fn typed<T>(read: Option<T>, wanted: &str, value: &Value, path: &Path, notices: &mut Notices) -> Option<T> {
    if read.is_none() {
        let text = format!("{wanted} is wanted here, not {}; not taken over", kind(value));
        notices.add("field.wrong-type", path, text);
    }
    read
}
