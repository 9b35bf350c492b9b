//! What changed between two definitions, for the person who is asked to accept it.

use serde_json::Value;
use serde_json::value::RawValue;

/// What happened to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It says something else.
    Changed,
}

/// One place that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What happened.
    pub kind: ChangeKind,
    /// What it said, as JSON in which characters that cannot be seen are escaped; cut at 4,000 characters.
    pub old: Option<String>,
    /// What it says now.
    pub new: Option<String>,
}

/// Most changes that are listed; a last one without texts stands for the rest.
const MAX_CHANGES: usize = 200;
/// Longest text of one side, in characters.
const MAX_TEXT: usize = 4_000;

/// Lists what differs, in the order of the new definition. Texts that are not JSON differ as a whole.
#[must_use]
pub fn difference(old: &RawValue, new: &RawValue) -> Vec<Change> {
    let (Ok(a), Ok(b)) = (serde_json::from_str(old.get()), serde_json::from_str(new.get())) else {
        return vec![Change {
            pointer: String::new(),
            kind: ChangeKind::Changed,
            old: None,
            new: None,
        }];
    };
    let mut changes = Vec::new();
    compare(&mut String::new(), &a, &b, &mut changes);
    if changes.len() > MAX_CHANGES {
        changes.truncate(MAX_CHANGES);
        changes.push(Change {
            pointer: String::new(),
            kind: ChangeKind::Changed,
            old: None,
            new: None,
        });
    }
    changes
}

fn compare(pointer: &mut String, old: &Value, new: &Value, changes: &mut Vec<Change>) {
    if old == new || changes.len() > MAX_CHANGES {
        return;
    }
    let length = pointer.len();
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in b {
                push(pointer, key);
                match a.get(key) {
                    Some(before) => compare(pointer, before, value, changes),
                    None => changes.push(change(pointer, None, Some(value))),
                }
                pointer.truncate(length);
            }
            for (key, value) in a.iter().filter(|(key, _)| !b.contains_key(*key)) {
                push(pointer, key);
                changes.push(change(pointer, Some(value), None));
                pointer.truncate(length);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for at in 0..a.len().max(b.len()) {
                push(pointer, &at.to_string());
                match (a.get(at), b.get(at)) {
                    (Some(before), Some(after)) => compare(pointer, before, after, changes),
                    (before, after) => changes.push(change(pointer, before, after)),
                }
                pointer.truncate(length);
            }
        }
        _ => changes.push(change(pointer, Some(old), Some(new))),
    }
}

fn push(pointer: &mut String, key: &str) {
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

fn change(pointer: &str, old: Option<&Value>, new: Option<&Value>) -> Change {
    let kind = match (old, new) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        (Some(_), Some(_)) => ChangeKind::Changed,
    };
    Change {
        pointer: visible(pointer),
        kind,
        old: old.map(shown),
        new: new.map(shown),
    }
}

fn shown(value: &Value) -> String {
    visible(&value.to_string())
}

/// The text with invisible and direction-changing characters escaped, cut to length.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_TEXT));
    for (at, c) in text.chars().enumerate() {
        if at == MAX_TEXT {
            out.push('…');
            break;
        }
        if hidden(c) {
            out.push_str(&format!("\\u{{{:04x}}}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{00ad}'
                | '\u{061c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
