//! What is wrong with a value, told by the schema's own words: never a rejected value, never a name the schema does not know.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::bounds::Shape;
use super::problem::excerpt;

/// One place where a value breaks its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as a JSON pointer; names that the schema does not know are `*`. Empty at the top.
    pub instance: String,
    /// Where in the schema, as a JSON pointer.
    pub schema: String,
    /// The keyword that is broken.
    pub keyword: String,
    /// What is asked for, as a sentence without the value.
    pub constraint: String,
}

/// Alternatives of which the first reason is told.
const ALTERNATIVES: usize = 4;
/// Values of an `enum` that are named.
const OPTIONS: usize = 20;

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.instance.is_empty() {
            "the arguments"
        } else {
            &self.instance
        };
        write!(f, "{place}: {} (schema {})", self.constraint, self.schema)
    }
}

pub(super) fn of(error: &ValidationError<'_>, value: &Value, shape: &Shape) -> Violation {
    Violation {
        instance: known_path(error.instance_path().as_str(), value, shape),
        schema: error.schema_path().as_str().to_owned(),
        keyword: error.kind().keyword().to_owned(),
        constraint: constraint(error.kind(), true),
    }
}

pub(super) fn too_deep(limit: usize) -> Violation {
    let constraint = format!("must not be nested deeper than {limit} levels");
    Violation {
        instance: String::new(),
        schema: String::new(),
        keyword: "depth".to_owned(),
        constraint,
    }
}

pub(super) fn unspecific() -> Violation {
    let constraint = "must fit the schema; the value is too large to say where it does not".to_owned();
    Violation {
        instance: String::new(),
        schema: String::new(),
        keyword: "schema".to_owned(),
        constraint,
    }
}

/// The path with every property that the schema does not name replaced: such a name comes from the value and may be data.
fn known_path(path: &str, value: &Value, shape: &Shape) -> String {
    let mut at = Some(value);
    let mut out = String::with_capacity(path.len());
    for segment in path.split('/').skip(1) {
        out.push('/');
        let name = segment.replace("~1", "/").replace("~0", "~");
        match at {
            Some(Value::Array(items)) => {
                out.push_str(segment);
                at = name.parse().ok().and_then(|i: usize| items.get(i));
            }
            Some(Value::Object(map)) => {
                out.push_str(if shape.names(&name) { segment } else { "*" });
                at = map.get(&name);
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {
                out.push('*');
                at = None;
            }
        }
    }
    out
}

fn constraint(kind: &ValidationErrorKind, alternatives: bool) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::AdditionalItems { limit } => format!("must not have more than {limit} items"),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!(
                "must not have properties the schema does not name ({} found)",
                unexpected.len()
            )
        }
        Kind::UnevaluatedItems { unexpected } => {
            format!(
                "must not have items the schema does not describe ({} found)",
                unexpected.len()
            )
        }
        Kind::AnyOf { context } => any_of(
            "must match at least one of the alternatives",
            context,
            alternatives,
        ),
        Kind::OneOfNotValid { context } => any_of(
            "must match exactly one of the alternatives",
            context,
            alternatives,
        ),
        Kind::OneOfMultipleValid { .. } => {
            "must match exactly one of the alternatives, but matches more".to_owned()
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "could not be matched against the pattern within bounds".to_owned()
        }
        Kind::Constant { expected_value } => format!("must be {}", excerpt(&expected_value.to_string())),
        Kind::Contains => "must contain an item of the described kind".to_owned(),
        Kind::ContentEncoding { content_encoding } => {
            format!("must be encoded as {}", excerpt(content_encoding))
        }
        Kind::ContentMediaType { content_media_type } => format!("must be {}", excerpt(content_media_type)),
        Kind::Enum { options } => options_of(options),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::FalseSchema => "must not be there".to_owned(),
        Kind::Format { format } => format!("must have the format {}", excerpt(format)),
        Kind::FromUtf8 { .. } => "must be encoded text".to_owned(),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} properties"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MinProperties { limit } => format!("must have at least {limit} properties"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::Not { .. } => "must not match what the schema excludes".to_owned(),
        Kind::Pattern { pattern } => format!("must match the pattern {}", excerpt(pattern)),
        Kind::PropertyNames { error } => {
            format!(
                "has a property whose name is not allowed: it {}",
                constraint(error.kind(), false)
            )
        }
        Kind::Required { property } => match property.as_str() {
            Some(name) => format!("must have the property {}", excerpt(name)),
            None => "lacks a required property".to_owned(),
        },
        Kind::Type { kind } => of_type(kind),
        Kind::UniqueItems => "must not hold an item twice".to_owned(),
        // Neither can come from a schema that was compiled offline without keywords of our own.
        Kind::Custom { .. } | Kind::Referencing(_) => "does not fit the schema".to_owned(),
        #[expect(unreachable_patterns, reason = "the enum of the library grows")]
        _ => "does not fit the schema".to_owned(),
    }
}

fn any_of(sentence: &str, context: &[Vec<ValidationError<'static>>], alternatives: bool) -> String {
    let count = context.len();
    if !alternatives {
        return format!("{sentence} ({count})");
    }
    let reasons: Vec<String> = context
        .iter()
        .take(ALTERNATIVES)
        .filter_map(|errors| errors.first())
        .map(|error| constraint(error.kind(), false))
        .collect();
    let more = if count > ALTERNATIVES { "; …" } else { "" };
    format!("{sentence} ({count}): {}{more}", reasons.join("; or "))
}

fn options_of(options: &Value) -> String {
    let Value::Array(options) = options else {
        return "must be one of the listed values".to_owned();
    };
    let mut named: Vec<String> = options
        .iter()
        .take(OPTIONS)
        .map(|option| excerpt(&option.to_string()))
        .collect();
    if options.len() > OPTIONS {
        named.push(format!("… ({} in all)", options.len()));
    }
    format!("must be one of {}", named.join(", "))
}

fn of_type(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(wanted) => format!("must be of type {wanted}"),
        TypeKind::Multiple(wanted) => {
            let words: Vec<String> = wanted.iter().map(|w| w.to_string()).collect();
            format!("must be of type {}", words.join(" or "))
        }
    }
}
