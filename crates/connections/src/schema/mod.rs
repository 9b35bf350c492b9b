//! The schemas of tools: compiled once, checked offline, and silent about the values they reject.
//!
//! JSON Schema 2020-12 unless `$schema` names another dialect. Nothing is ever fetched for a `$ref`; patterns run in a
//! backtracking engine with a bound, because published schemas use look-around and back-references.

mod bounds;
mod cache;
mod problem;
mod violation;

#[cfg(test)]
mod tests;

use jsonschema::{Draft, PatternOptions};
use serde_json::Value;
use serde_json::value::RawValue;

use self::bounds::Shape;

pub use self::cache::Schemas;
pub use self::problem::SchemaProblem;
pub use self::violation::Violation;

/// Most violations that are reported of one value.
pub const MAX_VIOLATIONS: usize = 10;

/// Steps one pattern may take to match one string; beyond it the string counts as not matching.
const BACKTRACK_LIMIT: usize = 100_000;
/// Size of one compiled pattern, in bytes.
const PATTERN_BYTES: usize = 2 * 1024 * 1024;

/// Values of an instance up to which every violation is looked for; in a larger one only the first is.
const SEARCHED_VALUES: usize = 20_000;

/// A compiled schema.
#[derive(Debug)]
pub struct Validator {
    compiled: jsonschema::Validator,
    shape: Shape,
}

/// Compiles a tool's schema.
///
/// # Errors
/// The schema is not one, is larger or deeper than allowed, names a dialect nobody knows or refers to something outside
/// itself.
pub fn compile(raw: &RawValue) -> Result<Validator, SchemaProblem> {
    let (schema, shape) = Shape::read(raw)?;
    let draft = dialect(&schema)?;
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_LIMIT)
        .size_limit(PATTERN_BYTES);
    let compiled = jsonschema::options()
        .with_draft(draft)
        .offline()
        .with_pattern_options(patterns)
        .build(&schema)
        .map_err(|error| problem::of(&error))?;
    Ok(Validator { compiled, shape })
}

impl Validator {
    /// Checks a value.
    ///
    /// # Errors
    /// What is wrong with it, at most [`MAX_VIOLATIONS`] places; never a value or a name that the schema does not know.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        let size = bounds::measure(value);
        if size.depth > self.shape.max_instance_depth() {
            return Err(vec![violation::too_deep(self.shape.max_instance_depth())]);
        }
        if self.compiled.is_valid(value) {
            return Ok(());
        }
        if !self.shape.searchable(size) {
            return Err(vec![violation::unspecific()]);
        }
        let describe = |error: jsonschema::ValidationError<'_>| violation::of(&error, value, &self.shape);
        let found: Vec<Violation> = if size.values > SEARCHED_VALUES {
            self.compiled
                .validate(value)
                .err()
                .map(describe)
                .into_iter()
                .collect()
        } else {
            self.compiled
                .iter_errors(value)
                .take(MAX_VIOLATIONS)
                .map(describe)
                .collect()
        };
        // Whatever the details say, the value was found invalid.
        Err(if found.is_empty() {
            vec![violation::unspecific()]
        } else {
            found
        })
    }
}

fn dialect(schema: &Value) -> Result<Draft, SchemaProblem> {
    let Some(named) = schema.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let Some(uri) = named.as_str() else {
        return Err(SchemaProblem::Dialect {
            named: "not a string".to_owned(),
        });
    };
    match Draft::from_schema_uri(uri) {
        known @ (Draft::Draft4 | Draft::Draft6 | Draft::Draft7 | Draft::Draft201909 | Draft::Draft202012) => {
            Ok(known)
        }
        _ => Err(SchemaProblem::Dialect {
            named: problem::excerpt(uri),
        }),
    }
}
