//! The OpenAPI 3.1 document, from the declarations and nothing else.

use std::collections::BTreeMap;

use domain::Surface;
use gateway::capability::{Declaration, Method};
use gateway::{Capability, Registry};
use serde_json::{Map, Value, json};

/// The document: deterministic, so that it can be checked in and compared.
#[must_use]
pub fn document(registry: &Registry) -> Value {
    let mut schemas = Map::new();
    schemas.insert("Problem".to_owned(), problem_schema());
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for capability in registry.on(Surface::Api) {
        let d = capability.declaration;
        let operation = operation(capability, &mut schemas);
        let path = format!("/api/v1{}", d.path);
        paths
            .entry(path)
            .or_default()
            .insert(d.method.as_str().to_lowercase(), operation);
    }
    let schemas: BTreeMap<String, Value> = schemas.into_iter().collect();
    json!({
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Switchboard",
            "version": "1",
            "description": "Connect tools once; let every agent use them under one policy, with a person in the loop and a record of everything.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/", "description": "This server" }],
        "security": [{ "bearer": [] }, { "apiKey": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "A key: sb_admin_… or sb_agent_…" },
                "apiKey": { "type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key in a header of its own" },
            },
            "schemas": schemas,
        },
    })
}

fn problem_schema() -> Value {
    let schema = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<api::problem::Problem>();
    let mut value = schema.to_value();
    if let Some(object) = value.as_object_mut() {
        object.remove("$schema");
    }
    value
}

fn operation(capability: &Capability, schemas: &mut Map<String, Value>) -> Value {
    let d = capability.declaration;
    let input = hoisted((*capability.input).clone(), schemas);
    let mut operation = json!({
        "operationId": d.tool_name(),
        "summary": d.title,
        "description": d.description,
        "tags": [d.command_words().first().copied().unwrap_or("system")],
        "parameters": parameters(&d, &input),
        "responses": responses(capability, schemas),
        "x-switchboard": {
            "capability": d.id,
            "risk": d.risk.as_str(),
            "effect": d.effect.as_str(),
            "surfaces": d.surfaces.iter().map(|s| s.as_str()).collect::<Vec<_>>(),
            "paged": d.paged,
            "idempotent": d.idempotent,
        },
    });
    if let (Some(body), Some(object)) = (body(&d, &input), operation.as_object_mut()) {
        object.insert("requestBody".to_owned(), body);
    }
    operation
}

/// Path parameters, the query of reading methods, and the idempotency key.
fn parameters(d: &Declaration, input: &Value) -> Vec<Value> {
    let required = required(input);
    let mut parameters = Vec::new();
    for (name, schema) in input["properties"].as_object().into_iter().flatten() {
        let place = if in_path(d, name) {
            "path"
        } else if d.method.input_in_query() {
            "query"
        } else {
            continue;
        };
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|s| s.remove("description"));
        parameters.push(json!({
            "name": name,
            "in": place,
            "required": place == "path" || required.contains(name),
            "description": description,
            "schema": schema,
        }));
    }
    if d.idempotent {
        parameters.push(json!({
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "The same key with the same body answers again for 24 hours; with another body it is refused.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
        }));
    }
    parameters
}

fn body(d: &Declaration, input: &Value) -> Option<Value> {
    if matches!(d.method, Method::Get | Method::Delete) {
        return None;
    }
    let properties = input["properties"].as_object()?;
    let inside: Map<String, Value> = properties
        .iter()
        .filter(|(name, _)| !in_path(d, name))
        .map(|(n, s)| (n.clone(), s.clone()))
        .collect();
    if inside.is_empty() {
        return None;
    }
    let required: Vec<String> = required(input)
        .into_iter()
        .filter(|name| !in_path(d, name))
        .collect();
    let mut schema = json!({ "type": "object", "properties": inside, "additionalProperties": false });
    if let (false, Some(object)) = (required.is_empty(), schema.as_object_mut()) {
        object.insert("required".to_owned(), json!(required));
    }
    Some(json!({ "required": !required.is_empty(), "content": { "application/json": { "schema": schema } } }))
}

fn responses(capability: &Capability, schemas: &mut Map<String, Value>) -> Value {
    let d = capability.declaration;
    let mut success = json!({ "description": if d.success == 204 { "Done." } else { d.title } });
    if let (Some(output), Some(object)) = (&capability.output, success.as_object_mut()) {
        let schema = hoisted((**output).clone(), schemas);
        object.insert(
            "content".to_owned(),
            json!({ "application/json": { "schema": named(schema, schemas) } }),
        );
    }
    let problem = json!({
        "description": "What was wrong, where, and what to do (RFC 9457).",
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
    });
    json!({ d.success.to_string(): success, "default": problem })
}

/// Moves `$defs` to the document's components, and references with them.
fn hoisted(mut schema: Value, schemas: &mut Map<String, Value>) -> Value {
    let definitions = schema.as_object_mut().and_then(|object| {
        object.remove("$schema");
        object.remove("$defs")
    });
    if let Some(Value::Object(definitions)) = definitions {
        for (name, mut definition) in definitions {
            redirect(&mut definition);
            schemas.insert(name, definition);
        }
    }
    redirect(&mut schema);
    schema
}

fn redirect(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref")
                && let Some(name) = reference.strip_prefix("#/$defs/")
            {
                *reference = format!("#/components/schemas/{name}");
            }
            object.values_mut().for_each(redirect);
        }
        Value::Array(items) => items.iter_mut().for_each(redirect),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A schema with a title goes to the components and is referred to; a page goes there under the name of what it holds.
fn named(mut schema: Value, schemas: &mut Map<String, Value>) -> Value {
    // A list that is paged otherwise, or not at all, goes by its own name.
    let held = schema
        .pointer("/properties/next_cursor")
        .and_then(|_| schema.pointer("/properties/items/items/$ref"))
        .and_then(Value::as_str);
    let held = held
        .and_then(|reference| reference.rsplit('/').next())
        .map(|name| format!("{name}Page"));
    let title = schema.as_object_mut().and_then(|object| object.remove("title"));
    let Some(title) = held.or_else(|| title.and_then(|t| t.as_str().map(str::to_owned))) else {
        return schema;
    };
    debug_assert!(
        schemas.get(&title).is_none_or(|known| *known == schema),
        "two schemas are called {title}"
    );
    schemas.insert(title.clone(), schema);
    json!({ "$ref": format!("#/components/schemas/{title}") })
}

fn required(input: &Value) -> Vec<String> {
    input["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn in_path(d: &Declaration, name: &str) -> bool {
    d.path.contains(&format!("{{{name}}}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::document;

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
                object.values().for_each(|inner| references(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn refers_to_what_it_holds_and_says_the_same_every_time() {
        let registry = capabilities::registry().unwrap();
        let first = document(&registry);
        assert_eq!(
            first.to_string(),
            document(&capabilities::registry().unwrap()).to_string()
        );
        let mut found = Vec::new();
        references(&first, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let pointer = reference.trim_start_matches('#').to_owned();
            assert!(first.pointer(&pointer).is_some(), "{reference} leads nowhere");
        }
        for (path, methods) in first["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let paged = operation["x-switchboard"]["paged"] == true;
                let answer = operation.pointer("/responses/200/content/application~1json/schema/$ref");
                let page = answer
                    .and_then(Value::as_str)
                    .is_some_and(|name| name.ends_with("Page"));
                assert_eq!(paged, page, "{method} {path}");
                let described = operation["responses"]
                    .as_object()
                    .unwrap()
                    .values()
                    .all(|r| r["description"].is_string());
                assert!(described, "{method} {path}");
            }
        }
    }
}
