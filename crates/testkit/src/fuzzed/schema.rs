//! Schemas of tools: compiling and checking end, and tell nothing of the value.

#![expect(clippy::unwrap_used, reason = "what must hold and does not fails the target")]

use connections::schema::{MAX_VIOLATIONS, compile};
use serde_json::Value;
use serde_json::value::RawValue;

/// Stands in every text of the value that the schema does not know.
const MARK: &str = "\u{1f511}";

/// A schema, a line `---`, a value.
pub(super) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let (schema, value) = super::halves(text);
    let Ok(raw) = RawValue::from_string(schema.to_owned()) else {
        return;
    };
    let validator = match compile(&raw) {
        Ok(validator) => validator,
        Err(problem) => {
            assert!(problem.to_string().chars().count() < 1_000, "{problem}");
            return;
        }
    };
    let value = serde_json::from_str(value).unwrap_or(Value::Null);
    let known = serde_json::from_str::<Value>(schema).unwrap().to_string();
    if known.contains(MARK) || known.contains("1f511") || known.contains("1F511") {
        return;
    }
    let value = marked(value, &known);
    let Err(violations) = validator.check(&value) else {
        return;
    };
    assert!((1..=MAX_VIOLATIONS).contains(&violations.len()));
    for violation in violations {
        assert!(
            !format!("{violation:?} {violation}").contains(MARK),
            "{violation:?}"
        );
    }
}

fn marked(value: Value, known: &str) -> Value {
    let mark = |text: String| format!("{MARK}{text}");
    match value {
        Value::String(text) => Value::String(mark(text)),
        Value::Array(items) => items.into_iter().map(|item| marked(item, known)).collect(),
        Value::Object(members) => {
            let name = |name: String| {
                let quoted = Value::from(name.as_str()).to_string();
                if known.contains(&quoted) { name } else { mark(name) }
            };
            members
                .into_iter()
                .map(|(key, value)| (name(key), marked(value, known)))
                .collect()
        }
        other => other,
    }
}
