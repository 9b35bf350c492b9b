use std::path::Path;

use domain::Digest;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{MAX_VIOLATIONS, SchemaProblem, Schemas, Validator, compile};

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn compiled(schema: &Value) -> Validator {
    compile(&raw(schema)).unwrap()
}

/// `place: constraint` of every violation.
fn violations(schema: &Value, value: &Value) -> Vec<String> {
    match compiled(schema).check(value) {
        Ok(()) => Vec::new(),
        Err(found) => found
            .iter()
            .map(|v| format!("{} {}: {}", v.instance, v.schema, v.constraint))
            .collect(),
    }
}

// V155, V156
#[test]
fn nested_required_and_referenced() {
    let schema = json!({
        "type": "object",
        "required": ["where"],
        "properties": {
            "where": {"$ref": "#/$defs/place"},
            "tags": {"type": "array", "maxItems": 2, "items": {"enum": ["a", "b"]}},
            "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
        },
        "additionalProperties": false,
        "$defs": {"place": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string", "minLength": 2},
            "near": {"$ref": "#/$defs/place"}}}},
    });
    let check = |value: Value, want: &[&str]| assert_eq!(violations(&schema, &value), want, "{value}");
    check(
        json!({"where": {"city": "Rome", "near": {"city": "Ostia"}}, "tags": ["a"], "limit": null}),
        &[],
    );
    check(json!({}), &[" /required: must have the property where"]);
    check(
        json!({"where": {"city": 7}}),
        &["/where/city /$defs/place/properties/city/type: must be of type string"],
    );
    check(
        json!({"where": {"city": "Rome", "near": {}}}),
        &["/where/near /$defs/place/required: must have the property city"],
    );
    check(
        json!({"where": {"city": "Rome"}, "tags": ["a", "x"]}),
        &["/tags/1 /properties/tags/items/enum: must be one of \"a\", \"b\""],
    );
    check(
        json!({"where": {"city": "R"}, "limit": 10}),
        &[
            "/where/city /$defs/place/properties/city/minLength: must have at least 2 characters",
            "/limit /properties/limit/maximum: must be at most 9",
        ],
    );
    check(
        json!({"where": {"city": "Rome"}, "limit": "3"}),
        &["/limit /properties/limit/type: must be of type null or integer"],
    );
}

// V159
#[test]
fn no_value_and_no_unknown_name_is_told() {
    let schemas = [
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        json!({"type": "object", "unevaluatedProperties": false}),
        json!({"type": "object", "propertyNames": {"pattern": "^[a-z]$"}, "additionalProperties": {"const": 1}}),
        json!({"type": "object", "patternProperties": {".*": {"not": {}}}}),
        json!({"type": "object", "additionalProperties": {"anyOf": [{"type": "null"}, {"minLength": 400}]}}),
        json!({"type": "object", "additionalProperties": {"format": "uri", "enum": []}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "additionalProperties": {"format": "date-time"}}),
        json!({"type": "object", "additionalProperties": {"oneOf": [{"type": "string"}, {"type": ["string", "null"]}]}}),
        json!({"type": "object", "maxProperties": 0, "additionalProperties": {"pattern": "^(?!hunter)"}}),
        json!({"type": "array"}),
        json!({"const": {"x": 1}}),
    ];
    let values = [
        json!({"hunter2@example.com": "hunter2"}),
        json!({"hunter2/~x": {"hunter2": ["hunter2"]}}),
        json!({"a": "hunter2", "hunter2": 5}),
        json!({"4915112345678": "hunter2"}),
    ];
    for schema in &schemas {
        let validator = compiled(schema);
        for value in &values {
            let Err(found) = validator.check(value) else {
                continue;
            };
            let text = format!("{found:?}").replace("^(?!hunter)", "");
            assert!(
                !text.contains("hunter2") && !text.contains("49151"),
                "{schema} {value}: {text}"
            );
        }
    }
}

#[test]
fn at_most_ten_violations() {
    let schema = json!({"items": {"type": "string"}, "type": "array"});
    let many: Vec<u32> = (0..500).collect();
    assert_eq!(violations(&schema, &json!(many)).len(), MAX_VIOLATIONS);
    let huge: Vec<u32> = (0..50_000).collect();
    assert_eq!(violations(&schema, &json!(huge)).len(), 1);
}

#[test]
fn what_cannot_be_compiled_says_why() {
    let check = |schema: Value, want: &str| {
        let problem = compile(&raw(&schema)).unwrap_err().to_string();
        assert!(problem.contains(want), "{schema}: {problem}");
    };
    check(json!(null), "is null, not an object");
    check(json!([1]), "is a list");
    check(
        json!({"$schema": "https://example.com/mine"}),
        "dialect is not known (https://example.com/mine)",
    );
    check(
        json!({"$ref": "https://example.com/s.json"}),
        "https://example.com/s.json",
    );
    check(
        json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}}),
        "file:///etc/passwd",
    );
    check(json!({"$ref": "#/$defs/none"}), "/$defs/none");
    check(json!({"type": "objekt"}), "/type");
    check(
        json!({"properties": {"a": {"pattern": "("}}}),
        "/properties/a/pattern",
    );
    check(
        json!({"properties": {"a": {"pattern": "(\\w{1000}){1000}"}}}),
        "/properties/a/pattern",
    );
    let deep = (0..70).fold(json!({}), |inner, _| json!({"items": inner}));
    check(deep, "71 levels, at most 64");
    let twice =
        RawValue::from_string(r#"{"type":"object","properties":{},"properties":{"a":{}}}"#.to_owned())
            .unwrap();
    assert!(matches!(compile(&twice), Err(SchemaProblem::Unreadable { .. })));
}

#[test]
fn references_that_multiply_are_refused() {
    // Each level holds the next one twice: 2^40 ways.
    let mut defs = serde_json::Map::new();
    for i in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        defs.insert(format!("d{i}"), json!({"allOf": [next, next]}));
    }
    defs.insert("d40".to_owned(), json!({"type": "string"}));
    let problem = compile(&raw(&json!({"$ref": "#/$defs/d0", "$defs": defs}))).unwrap_err();
    assert!(matches!(problem, SchemaProblem::TooLarge { .. }), "{problem}");
    // A chain of references that is too long to follow for every value.
    let mut defs = serde_json::Map::new();
    for i in 0..400 {
        defs.insert(format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}));
    }
    defs.insert("d400".to_owned(), json!({"type": "string"}));
    let problem = compile(&raw(&json!({"$ref": "#/$defs/d0", "$defs": defs}))).unwrap_err();
    assert!(matches!(problem, SchemaProblem::TooLarge { .. }), "{problem}");
}

#[test]
fn circles_end() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"oneOf": [{"$ref": "#/$defs/a"}]}}}),
    ] {
        // What a circle without an end means is nobody's concern; that it ends is.
        let _answer: Result<(), _> = compiled(&schema).check(&json!({"a": {"a": 1}}));
    }
    // Every level can be read in two ways, and a hundred references lie between two levels.
    let mut defs = serde_json::Map::new();
    for i in 0..100 {
        defs.insert(format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}));
    }
    defs.insert(
        "d100".to_owned(),
        json!({"anyOf": [
            {"properties": {"a": {"$ref": "#/$defs/d0"}}, "required": ["z"]},
            {"properties": {"a": {"$ref": "#/$defs/d0"}}, "required": ["y"]},
        ]}),
    );
    let validator = compiled(&json!({"$ref": "#/$defs/d0", "$defs": defs}));
    let nested = |levels: usize| (0..levels).fold(json!({"z": 1}), |inner, _| json!({"a": inner}));
    assert_eq!(
        validator.check(&nested(40)).unwrap_err().first().unwrap().keyword,
        "schema"
    );
    assert_eq!(
        validator.check(&nested(1)).unwrap_err().first().unwrap().keyword,
        "anyOf"
    );
    let found = validator.check(&nested(100)).unwrap_err();
    assert_eq!(found.first().unwrap().keyword, "depth");
}

#[test]
fn patterns_are_bounded_and_look_around() {
    let schema = json!({"properties": {"a": {"pattern": "^(?!.*[Ll]inear).*$"}}});
    assert!(violations(&schema, &json!({"a": "board"})).is_empty());
    assert_eq!(violations(&schema, &json!({"a": "linear"})).len(), 1);
    // Catastrophic with back-references: the bound ends it, and what cannot be decided does not pass.
    let schema = json!({"properties": {"a": {"pattern": "^(?=(a+)+$)(a|aa)+\\1b$"}}});
    assert_eq!(violations(&schema, &json!({"a": "a".repeat(60)})).len(), 1);
}

#[test]
fn dialects() {
    let tuple = |schema: &str| json!({"$schema": schema, "type": "array", "items": [{"type": "string"}]});
    let seven = tuple("http://json-schema.org/draft-07/schema#");
    assert_eq!(violations(&seven, &json!([1])).len(), 1);
    // In 2020-12 a list of items is not a schema.
    assert!(compile(&raw(&tuple("https://json-schema.org/draft/2020-12/schema"))).is_err());
    // Unknown formats and keywords are ignored.
    let loose =
        json!({"properties": {"a": {"type": "string", "format": "starts_with", "x-vendor": {"type": 5}}}});
    assert!(violations(&loose, &json!({"a": "b"})).is_empty());
}

#[test]
fn cache_compiles_once() {
    let schemas = Schemas::default();
    let schema = raw(&json!({"type": "object"}));
    let digest = Digest::of(schema.get().as_bytes());
    let first = schemas.get(digest, &schema).unwrap();
    assert!(std::sync::Arc::ptr_eq(
        &first,
        &schemas.get(digest, &schema).unwrap()
    ));
    assert!(schemas.get(Digest::of(b"other"), &raw(&json!(null))).is_err());
}

/// Every schema of the published catalogues compiles, where they are at hand.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the environment says where the catalogues are"
)]
fn published_schemas_compile() {
    let Some(folder) = std::env::var_os("SWITCHBOARD_CASES") else {
        println!("left out: SWITCHBOARD_CASES is not set");
        return;
    };
    let mut tools = 0;
    for file in std::fs::read_dir(Path::new(&folder).join("catalogues")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let document: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for page in document["toolsPages"].as_array().unwrap() {
            for tool in page["tools"].as_array().into_iter().flatten() {
                for key in ["inputSchema", "outputSchema"] {
                    let Some(schema) = tool.get(key) else { continue };
                    let compiled = compile(&raw(schema));
                    assert!(
                        compiled.is_ok(),
                        "{} {} {key}: {}",
                        path.display(),
                        tool["name"],
                        compiled.unwrap_err()
                    );
                }
                tools += 1;
            }
        }
    }
    assert!(tools > 5_000, "{tools}");
}
