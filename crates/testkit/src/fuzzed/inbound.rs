//! Messages of clients: what is read is what every other reader of the same bytes sees.

#![expect(clippy::unwrap_used, reason = "what must hold and does not fails the target")]

use serde_json::Value;
use server::probe::{Seen, read, without};

pub(super) fn check(input: &[u8]) {
    let Some(seen) = read(input) else { return };
    // What was accepted is JSON without a repeated key on the levels we look at, and never too deep for anybody.
    let value: Value = match serde_json::from_slice(input) {
        Ok(value) => value,
        // What is passed on unread may hold numbers that are too large for this reader; arguments and ids may not.
        Err(error) => return assert!(error.to_string().starts_with("number out of range"), "{error}"),
    };
    assert_eq!(value["jsonrpc"], "2.0");
    let same = |raw: &str| assert_eq!(serde_json::from_str::<Value>(raw).unwrap(), value["id"]);
    match seen {
        Seen::Request(id, method, names) => {
            same(&id);
            assert!(value["id"].is_string() || value["id"].is_number());
            assert_eq!(value["method"], *method);
            match (names, value.get("params")) {
                (Some(names), Some(Value::Object(params))) => {
                    assert_eq!(names, params.keys().cloned().collect::<Vec<_>>());
                }
                (Some(names), params) => assert!(names.is_empty() && params.is_none()),
                (None, _) => {}
            }
        }
        Seen::Notification(method) => {
            assert!(value.get("id").is_none());
            assert_eq!(value["method"], *method);
        }
        Seen::Answer(id, result) => {
            same(&id);
            assert!(value.get("method").is_none());
            assert_eq!(
                (value.get("result").is_some(), value.get("error").is_some()),
                (result, !result)
            );
        }
    }
    if let Some(text) = without(input, "_meta") {
        let mut expected = value["params"].clone();
        expected.as_object_mut().unwrap().shift_remove("_meta");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }
}
