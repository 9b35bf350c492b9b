//! Arguments are checked before anything is sent, and what is wrong is said without repeating it.

use domain::{CallStatus, Status};
use gateway::{Exchange, ToolRequest};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use testkit::scripted::{Received, Reply};

use super::both;
use super::house::{Bench, House, code, notice, result};
use super::upstream::{Upstream, tool};

both!(
    what_does_not_fit_is_not_sent,
    what_cannot_be_read_is_not_sent,
    schemas_that_only_names_reach,
    a_servers_own_no_is_a_rejection,
    arguments_go_through_byte_for_byte,
);

/// What no message may ever repeat.
const DATA: &str = "s3cret-value";

fn booking() -> Value {
    json!({
        "name": "book",
        "inputSchema": {
            "type": "object",
            "$defs": {
                "place": {
                    "type": "object",
                    "properties": { "city": { "type": "string", "maxLength": 20 }, "next": { "$ref": "#/$defs/place" } },
                    "required": ["city"],
                    "additionalProperties": false
                }
            },
            "properties": {
                "from": { "$ref": "#/$defs/place" },
                "seats": { "type": "integer", "minimum": 1, "maximum": 9 },
                "class": { "enum": ["first", "second"] },
                "names": { "type": "array", "items": { "type": "string" }, "minItems": 1 }
            },
            "required": ["from", "seats"],
            "additionalProperties": false
        }
    })
}

// V155, V156, V157, V159
async fn what_does_not_fit_is_not_sent(bench: Bench) {
    let upstream = Upstream::echoing(vec![booking()]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("rail", &upstream).await;
    house.changing("rail/book").await;
    let from = json!({ "city": "Ghent" });
    let cases = [
        (json!({}), "", "required"),
        (json!({ "from": from, "seats": 0 }), "/seats", "minimum"),
        (json!({ "from": from, "seats": DATA }), "/seats", "type"),
        (json!({ "from": from, "seats": 1.5 }), "/seats", "type"),
        (
            json!({ "from": { "town": DATA }, "seats": 1 }),
            "/from",
            "required",
        ),
        (
            json!({ "from": { "city": "x".repeat(21) }, "seats": 1 }),
            "/from/city",
            "maxLength",
        ),
        (
            json!({ "from": { "city": "a", "next": { "city": 7 } }, "seats": 1 }),
            "/from/next/city",
            "type",
        ),
        (
            json!({ "from": { "city": "a", "next": { "city": "b", DATA: 1 } }, "seats": 1 }),
            "/from/next",
            "additionalProperties",
        ),
        (
            json!({ "from": from, "seats": 1, "class": DATA }),
            "/class",
            "enum",
        ),
        (
            json!({ "from": from, "seats": 1, "names": [] }),
            "/names",
            "minItems",
        ),
        (
            json!({ "from": from, "seats": 1, "names": ["a", 5] }),
            "/names/1",
            "type",
        ),
        (
            json!({ "from": from, "seats": 1, DATA: DATA }),
            "",
            "additionalProperties",
        ),
    ];
    for (arguments, path, keyword) in cases {
        let reply = house.call("rail__book", arguments.clone()).await;
        assert_eq!(
            (reply.outcome.status, code(&reply)),
            (Status::Failed, "invalid_arguments"),
            "{arguments}"
        );
        let said = notice(&reply);
        let violations = said.details["violations"].as_array().unwrap();
        let found = violations
            .iter()
            .find(|v| v["path"] == path && v["keyword"] == keyword);
        assert!(found.is_some(), "{arguments}: {violations:#?}");
        let schema_path = found.unwrap()["schema_path"].as_str().unwrap();
        assert!(schema_path.ends_with(keyword), "{schema_path}");
        let whole = format!("{} {}", said.text, said.details);
        assert!(!whole.contains(DATA) && !whole.contains("xxxx"), "{whole}");
        // A failure of the tool, in the record as such.
        let item = house.item(reply.call).await;
        assert_eq!(item.status, CallStatus::Failed);
    }
    assert!(upstream.calls().is_empty());
    // Corrected, it goes through.
    let right =
        json!({ "from": { "city": "Ghent", "next": { "city": "Mons" } }, "seats": 2, "class": "first" });
    let reply = house.call("rail__book", right.clone()).await;
    assert_eq!(result(&reply)["structuredContent"]["echo"], right);
    house.verify().await;
}

async fn what_cannot_be_read_is_not_sent(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("any")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/any").await;
    let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
    for text in ["[1]", "\"text\"", "7", "true", r#"{"a":1e999}"#, &deep] {
        let arguments = RawValue::from_string(text.to_owned()).ok();
        let Some(arguments) = arguments else {
            panic!("no JSON text: {text}")
        };
        let request = ToolRequest {
            name: "files__any".into(),
            arguments: Some(arguments),
            exchange: Exchange::default(),
        };
        let reply = house.gateway.call(&house.view(), request).await;
        assert_eq!(code(&reply), "invalid_arguments", "{text}");
        house.item(reply.call).await;
    }
    assert!(upstream.calls().is_empty());
    // None at all means none.
    let request = ToolRequest {
        name: "files__any".into(),
        arguments: None,
        exchange: Exchange::default(),
    };
    assert_eq!(
        house.gateway.call(&house.view(), request).await.outcome.status,
        Status::Succeeded
    );
    assert_eq!(upstream.arguments(), [json!({})]);
    house.verify().await;
}

// V156
async fn schemas_that_only_names_reach(bench: Bench) {
    let schema = json!({
        "type": "object",
        "$defs": {
            "address": { "$anchor": "addr", "type": "object", "required": ["street"] },
            "node": { "$dynamicAnchor": "node", "type": "object", "properties": { "children": { "type": "array", "items": { "$dynamicRef": "#node" } }, "v": { "type": "integer" } } }
        },
        "properties": { "home": { "$ref": "#addr" }, "tree": { "$ref": "#/$defs/node" } },
        "if": { "properties": { "kind": { "const": "card" } }, "required": ["kind"] },
        "then": { "required": ["number"] },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "unevaluatedProperties": { "type": "string" }
    });
    let upstream = Upstream::echoing(vec![json!({ "name": "x", "inputSchema": schema })]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/x").await;
    let cases = [
        (json!({ "phone": "1" }), true),
        (json!({ "phone": "1", "home": { "street": "a" } }), true),
        (json!({ "phone": "1", "home": {} }), false),
        (json!({}), false),
        (json!({ "email": "e", "kind": "card" }), false),
        (json!({ "email": "e", "kind": "card", "number": "4" }), true),
        (
            json!({ "email": "e", "tree": { "children": [{ "children": [{ "v": 1 }] }] } }),
            true,
        ),
        (
            json!({ "email": "e", "tree": { "children": [{ "children": [{ "v": "1" }] }] } }),
            false,
        ),
        (json!({ "email": "e", "other": 1 }), false),
    ];
    let mut sent = 0;
    for (arguments, fits) in cases {
        let reply = house.call("files__x", arguments.clone()).await;
        assert_eq!(
            code(&reply),
            if fits { "" } else { "invalid_arguments" },
            "{arguments}"
        );
        sent += usize::from(fits);
        assert_eq!(upstream.calls().len(), sent, "{arguments}");
    }
    house.verify().await;
}

// V158
async fn a_servers_own_no_is_a_rejection(bench: Bench) {
    let upstream = Upstream::answering(vec![tool("picky")], |request: &Received| {
        let params = request.json()["params"]["arguments"].clone();
        match params["how"].as_str() {
            Some("400") => Reply::status(400),
            Some("422") => Reply::status(422),
            Some("rpc") => Reply::error(request, -32602, "Invalid params"),
            _ => super::upstream::echo(request),
        }
    })
    .await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.changing("files/picky").await;
    for how in ["400", "422", "rpc"] {
        let reply = house.call("files__picky", json!({ "how": how })).await;
        assert_eq!(
            (reply.outcome.status, code(&reply)),
            (Status::Failed, "arguments_rejected"),
            "{how}"
        );
        assert_eq!(house.item(reply.call).await.status, CallStatus::Failed);
    }
    // Not the connection's fault: it stays as it was, and the corrected call goes through.
    let shown = house
        .admin("connections.show", json!({ "connection": "files" }))
        .await;
    assert_eq!(
        (&shown["health_code"], &shown["light"]),
        (&json!("ok"), &json!("green"))
    );
    assert_eq!(
        house
            .call("files__picky", json!({ "how": "well" }))
            .await
            .outcome
            .status,
        Status::Succeeded
    );
    house.verify().await;
}

async fn arguments_go_through_byte_for_byte(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("any")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/any").await;
    let text = r#"{"b":1.50,"a":"\u00e9","big":12345678901234567890123,"e":1e2}"#;
    let arguments = RawValue::from_string(text.to_owned()).unwrap();
    let request = ToolRequest {
        name: "files__any".into(),
        arguments: Some(arguments),
        exchange: Exchange::default(),
    };
    assert_eq!(
        house.gateway.call(&house.view(), request).await.outcome.status,
        Status::Succeeded
    );
    let body = upstream.server.received_of("tools/call")[0].body.clone();
    assert!(String::from_utf8(body.to_vec()).unwrap().contains(text));
    house.verify().await;
}
