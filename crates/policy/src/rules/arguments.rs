//! A call's arguments as rules read them: one bag of values per type, keyed by JSON pointer (RFC 6901).

use cedar_policy::RestrictedExpression;
use serde_json::{Number, Value};

/// How a rule reads an argument: `context.arguments.<kind>.getTag("<pointer>")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// A string.
    Text,
    /// A string, or an array of nothing but strings, as a set.
    Texts,
    /// A number without a fraction; beyond 64 bits the nearest end.
    Integer,
    /// Any number, to four digits after the point, rounded away from zero; beyond Cedar's range the nearest end.
    Number,
    /// A boolean.
    Flag,
    /// The name of the JSON type, `null` included.
    Kind,
}

/// What reading gave.
pub(crate) enum Read {
    /// There is nothing, or null.
    Nothing,
    /// A value.
    Value(RestrictedExpression),
    /// There is something of another type.
    OtherType,
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [Self::Text, Self::Texts, Self::Integer, Self::Number, Self::Flag, Self::Kind];

    /// Its name in `context.arguments`.
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Texts => "texts",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Flag => "flag",
            Self::Kind => "kind",
        }
    }

    /// Its entity type in the schema.
    pub(crate) const fn entity(self) -> &'static str {
        match self {
            Self::Text => "Text",
            Self::Texts => "Texts",
            Self::Integer => "Integer",
            Self::Number => "Number",
            Self::Flag => "Flag",
            Self::Kind => "Kind",
        }
    }

    /// The kind of this name.
    pub(crate) fn named(field: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.field() == field)
    }

    /// Reads what stands at a pointer.
    pub(crate) fn read(self, arguments: &Value, pointer: &str) -> Read {
        let Some(value) = arguments.pointer(pointer) else { return Read::Nothing };
        if matches!(self, Self::Kind) {
            return Read::Value(RestrictedExpression::new_string(type_name(value).to_owned()));
        }
        match (self, value) {
            (_, Value::Null) => Read::Nothing,
            (Self::Text, Value::String(text)) => Read::Value(RestrictedExpression::new_string(text.clone())),
            (Self::Texts, Value::String(text)) => Read::Value(set([text])),
            (Self::Texts, Value::Array(items)) => {
                let texts: Option<Vec<&String>> = items.iter().map(string).collect();
                texts.map_or(Read::OtherType, |texts| Read::Value(set(texts)))
            }
            (Self::Integer, Value::Number(number)) => {
                integer(number).map_or(Read::OtherType, |n| Read::Value(RestrictedExpression::new_long(n)))
            }
            (Self::Number, Value::Number(number)) => Read::Value(RestrictedExpression::new_decimal(decimal(number))),
            (Self::Flag, Value::Bool(flag)) => Read::Value(RestrictedExpression::new_bool(*flag)),
            (Self::Text | Self::Texts | Self::Integer | Self::Number | Self::Flag | Self::Kind, _) => Read::OtherType,
        }
    }
}

fn set<'a>(texts: impl IntoIterator<Item = &'a String>) -> RestrictedExpression {
    RestrictedExpression::new_set(texts.into_iter().map(|text| RestrictedExpression::new_string(text.clone())))
}

const fn string(value: &Value) -> Option<&String> {
    match value {
        Value::String(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The integer a number is; none with a fraction.
fn integer(number: &Number) -> Option<i64> {
    if let Some(n) = number.as_i64() {
        return Some(n);
    }
    if number.is_u64() {
        return Some(i64::MAX);
    }
    let float = number.as_f64()?;
    if float.fract() != 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a float-to-int `as` saturates, which is what is wanted here")]
    let nearest = float as i64;
    Some(nearest)
}

/// Ten-thousandths in Cedar's decimal: its greatest value.
const DECIMAL_MAX: i128 = 9_223_372_036_854_775_807;

/// The text of a number as a Cedar decimal. Works on digits, so that 100.1 stays 100.1; what is lost is rounded away from zero, so
/// that no limit is slipped under by a hair.
fn decimal(number: &Number) -> String {
    let text = number.to_string();
    let (negative, digits) = text.strip_prefix('-').map_or((false, text.as_str()), |rest| (true, rest));
    let scaled = scaled(digits).min(DECIMAL_MAX);
    let sign = if negative && scaled > 0 { "-" } else { "" };
    format!("{sign}{}.{:04}", scaled / 10_000, scaled % 10_000)
}

fn scaled(digits: &str) -> i128 {
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(if exponent.starts_with('-') { i32::MIN } else { i32::MAX });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    // The place of the point after scaling by ten thousand.
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(i64::from(exponent)).saturating_add(4);
    let mut value: i128 = 0;
    for place in 0..point.clamp(0, 64) {
        let digit = usize::try_from(place).ok().and_then(|i| all.get(i)).map_or(0, |b| i128::from(b.saturating_sub(b'0')));
        value = value.saturating_mul(10).saturating_add(digit);
        if value > DECIMAL_MAX {
            return DECIMAL_MAX;
        }
    }
    let kept = usize::try_from(point.max(0)).unwrap_or(usize::MAX);
    let lost = all.iter().skip(kept).any(|digit| *digit != b'0');
    if lost { value.saturating_add(1) } else { value }
}

#[cfg(test)]
mod tests {
    use serde_json::{Number, Value};

    use super::{decimal, integer};

    fn number(text: &str) -> Number {
        let Ok(Value::Number(number)) = serde_json::from_str(text) else { panic!("{text} is a number") };
        number
    }

    #[test]
    fn decimals() {
        for (text, want) in [
            ("0", "0.0000"),
            ("100.1", "100.1000"),
            ("-2.50", "-2.5000"),
            ("100.00001", "100.0001"),
            ("-0.00001", "-0.0001"),
            ("-0.0", "0.0000"),
            ("1e-300", "0.0001"),
            ("1e300", "922337203685477.5807"),
            ("-1e300", "-922337203685477.5807"),
            ("18446744073709551615", "922337203685477.5807"),
            ("1.5e3", "1500.0000"),
            ("92233720368547.5", "92233720368547.5000"),
        ] {
            assert_eq!(decimal(&number(text)), want, "{text}");
        }
    }

    #[test]
    fn integers() {
        for (text, want) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            ("1e3", Some(1000)),
            ("7.5", None),
            ("18446744073709551615", Some(i64::MAX)),
            ("1e300", Some(i64::MAX)),
            ("-1e300", Some(i64::MIN)),
        ] {
            assert_eq!(integer(&number(text)), want, "{text}");
        }
    }
}
