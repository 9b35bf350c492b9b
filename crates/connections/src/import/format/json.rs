//! JSON with comments and trailing commas, nothing looser.

use jsonc_parser::ast;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions};
use serde_json::{Map, Number, Value};

use super::{Budget, Format};
use crate::import::error::ImportError;
use crate::import::{MAX_DEPTH, MAX_VALUES};

pub(super) fn read(text: &str, budget: &mut Budget) -> Result<Value, ImportError> {
    if too_many_separators(text) {
        return Err(ImportError::TooManyValues { limit: MAX_VALUES });
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        if matches!(error.kind(), ParseErrorKind::NestingDepthExceeded) {
            return ImportError::TooDeep { limit: MAX_DEPTH };
        }
        ImportError::Syntax {
            format: Format::Json,
            line: error.line_display(),
            column: error.column_display(),
            problem: lower_first(&error.kind().to_string()),
        }
    })?;
    let value = parsed.value.ok_or(ImportError::Empty)?;
    Ok(convert(value, &mut Vec::new(), budget))
}

fn convert(value: ast::Value<'_>, path: &mut Vec<String>, budget: &mut Budget) -> Value {
    if !budget.spend(path.len()) {
        return Value::Null;
    }
    match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::StringLit(literal) => Value::String(literal.value.into_owned()),
        ast::Value::NumberLit(literal) => {
            let number: Result<Number, _> = serde_json::from_str(literal.value);
            number.map_or_else(|_| Value::String(literal.value.to_owned()), Value::Number)
        }
        ast::Value::Array(array) => {
            let mut items = Vec::new();
            for (index, item) in array.elements.into_iter().enumerate() {
                path.push(index.to_string());
                items.push(convert(item, path, budget));
                path.pop();
            }
            Value::Array(items)
        }
        ast::Value::Object(object) => {
            let mut map = Map::new();
            for property in object.properties {
                path.push(property.name.into_string());
                let value = convert(property.value, path, budget);
                if let Some(key) = path.pop() {
                    budget.insert(&mut map, path, key, value);
                }
            }
            Value::Object(map)
        }
    }
}

/// Counted before parsing, because the parser itself has no limit on the number of values.
fn too_many_separators(text: &str) -> bool {
    let mut in_string = false;
    let mut escaped = false;
    let mut seen = 0;
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => seen += 1,
            _ => {}
        }
    }
    // Quotation marks in comments can turn the count around; twice the limit leaves room for that.
    seen > MAX_VALUES * 2
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_lowercase().chain(chars).collect())
        .unwrap_or_default()
}
