//! Messages of servers: what is taken for a message is one, and belongs to the request it says it belongs to.

#![expect(clippy::unwrap_used, reason = "what must hold and does not fails the target")]

use mcp::wire::Object;
use mcp::wire::probe::{Seen, read, request, salvaged};
use serde_json::Value;
use serde_json::value::RawValue;

pub(super) fn check(input: &[u8]) {
    // Members that nobody looks at need not even be UTF-8.
    if let Ok(text) = std::str::from_utf8(input)
        && let Some(seen) = read(input)
    {
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        if raw.get().starts_with('[') {
            let each: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap();
            assert_eq!(each.len(), seen.len());
            each.iter()
                .zip(&seen)
                .for_each(|(raw, seen)| message(raw.get(), seen));
        } else {
            assert_eq!(seen.len(), 1);
            message(raw.get(), &seen[0]);
        }
        if let [Seen::Answer(Some(id), _)] = *seen {
            cut(input, id);
        }
    }
    if let Ok(text) = std::str::from_utf8(input)
        && let Ok(raw) = RawValue::from_string(text.to_owned())
        && let Ok(params) = Object::parse(&raw)
    {
        sent(&params);
    }
}

/// One message against the same read as a value.
fn message(text: &str, seen: &Seen) {
    // Nested deeper than a value may be is left to those who read params and results.
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let same =
        |raw: &str, member: &str| assert_eq!(serde_json::from_str::<Value>(raw).unwrap(), value[member]);
    match seen {
        Seen::Request(id, method, params) => {
            same(id, "id");
            assert_eq!(value["method"], **method);
            params.iter().for_each(|params| same(params, "params"));
        }
        Seen::Notification(method, params) => {
            assert!(value["id"].is_null(), "{text}");
            assert_eq!(value["method"], **method);
            params.iter().for_each(|params| same(params, "params"));
        }
        Seen::Answer(id, outcome) => {
            assert!(value.get("method").is_none_or(Value::is_null), "{text}");
            if let Some(id) = id {
                let said = value["id"]
                    .as_u64()
                    .or_else(|| value["id"].as_str()?.parse().ok());
                assert_eq!(said, Some(*id), "{text}");
            }
            match outcome {
                Ok(result) => same(result, "result"),
                Err(_) => assert!(!value["error"].is_null(), "{text}"),
            }
        }
        Seen::Bad => {}
    }
}

/// Wherever an answer breaks off, it is never taken for the answer to another request.
fn cut(input: &[u8], id: u64) {
    let steps = input.len().clamp(1, 64);
    for step in 0..=steps {
        let (head, tail) = input.split_at(input.len() * step / steps);
        for (head, tail) in [(head, tail), (head, input)] {
            let found = salvaged(head, tail);
            assert!(
                found.is_none_or(|found| found == id),
                "{found:?} instead of {id}, cut at {}",
                head.len()
            );
        }
    }
}

/// What a caller gives is what is sent, but for what describes the exchange.
fn sent(params: &Object) {
    let written = request(7, "tools/call", params);
    let envelope: Object = serde_json::from_slice(&written).unwrap();
    assert_eq!(envelope.text("method").as_deref(), Some("tools/call"));
    assert_eq!(envelope.get("id").unwrap().get(), "7");
    let sent = Object::parse(envelope.get("params").unwrap()).unwrap();
    let others = |object: &Object| -> Vec<(String, String)> {
        let all = object.iter().filter(|(key, _)| *key != "_meta");
        all.map(|(key, value)| (key.to_owned(), value.get().to_owned()))
            .collect()
    };
    assert_eq!(others(params), others(&sent));
    let meta = Object::parse(sent.get("_meta").unwrap()).unwrap();
    assert_eq!(meta.get("progressToken").unwrap().get(), "7");
    assert_eq!(
        meta.text("io.modelcontextprotocol/protocolVersion").as_deref(),
        Some("2026-07-28")
    );
}
