//! The same definition under another name.

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: &'a RawValue,
}

/// The definition (or result item) with only the value of its top-level `name` replaced; every other byte stays. None when it is
/// no object or has no such key.
#[must_use]
pub fn rename(raw: &RawValue, exposed: &str) -> Option<Box<RawValue>> {
    let text = raw.get();
    if !text.starts_with('{') {
        return None;
    }
    let old = serde_json::from_str::<Named<'_>>(text).ok()?.name.get();
    // `old` is borrowed from `text`, so the distance of the two is where the value stands.
    let start = (old.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let (head, tail) = (text.get(..start)?, text.get(start.checked_add(old.len())?..)?);
    let name = serde_json::to_string(exposed).ok()?;
    let mut renamed = String::with_capacity(head.len() + name.len() + tail.len());
    renamed.push_str(head);
    renamed.push_str(&name);
    renamed.push_str(tail);
    RawValue::from_string(renamed).ok()
}
