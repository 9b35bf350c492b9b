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
    Type,
}

/// What stands at a pointer, read as a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Read<'a> {
    /// There is nothing, or null.
    Nothing,
    /// There is something of another type.
    OtherType,
    /// A text, or the name of a type.
    Text(&'a str),
    /// Texts: a string, or an array of nothing but strings.
    Texts(&'a Value),
    /// An integer.
    Integer(i64),
    /// A number in ten-thousandths.
    Number(i64),
    /// A boolean.
    Flag(bool),
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Text,
        Self::Texts,
        Self::Integer,
        Self::Number,
        Self::Flag,
        Self::Type,
    ];

    /// Its name in `context.arguments`.
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Texts => "texts",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Flag => "flag",
            Self::Type => "kind",
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
            Self::Type => "Kind",
        }
    }

    /// The kind of this name.
    pub(crate) fn named(field: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.field() == field)
    }

    /// Reads what stands at a pointer.
    pub(crate) fn read<'a>(self, arguments: &'a Value, pointer: &str) -> Read<'a> {
        let Some(value) = arguments.pointer(pointer) else {
            return Read::Nothing;
        };
        match (self, value) {
            (Self::Type, _) => Read::Text(type_name(value)),
            (_, Value::Null) => Read::Nothing,
            (Self::Text, Value::String(text)) => Read::Text(text),
            (Self::Texts, Value::String(_)) => Read::Texts(value),
            (Self::Texts, Value::Array(items)) if items.iter().all(Value::is_string) => Read::Texts(value),
            (Self::Integer, Value::Number(number)) => integer(number).map_or(Read::OtherType, Read::Integer),
            (Self::Number, Value::Number(number)) => Read::Number(decimal(number)),
            (Self::Flag, Value::Bool(flag)) => Read::Flag(*flag),
            (Self::Text | Self::Texts | Self::Integer | Self::Number | Self::Flag, _) => Read::OtherType,
        }
    }
}

impl<'a> Read<'a> {
    /// Whether there is a value of the kind: what `hasTag` says.
    pub(crate) const fn is_there(&self) -> bool {
        match self {
            Self::Nothing | Self::OtherType => false,
            Self::Text(_) | Self::Texts(_) | Self::Integer(_) | Self::Number(_) | Self::Flag(_) => true,
        }
    }

    /// As Cedar takes it; none when there is nothing of the kind.
    pub(crate) fn expression(self) -> Option<RestrictedExpression> {
        Some(match self {
            Self::Nothing | Self::OtherType => return None,
            Self::Text(text) => RestrictedExpression::new_string(text.to_owned()),
            Self::Texts(value) => {
                let text = |text: &str| RestrictedExpression::new_string(text.to_owned());
                RestrictedExpression::new_set(texts(value).map(text))
            }
            Self::Integer(number) => RestrictedExpression::new_long(number),
            Self::Number(scaled) => RestrictedExpression::new_decimal(written(scaled)),
            Self::Flag(flag) => RestrictedExpression::new_bool(flag),
        })
    }
}

/// The strings of a string or an array.
pub(crate) fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let many = value.as_array().map(Vec::as_slice).unwrap_or_default();
    value
        .as_str()
        .into_iter()
        .chain(many.iter().filter_map(Value::as_str))
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
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float-to-int `as` saturates, which is what is wanted here"
    )]
    let nearest = float as i64;
    Some(nearest)
}

/// A number in the ten-thousandths Cedar's decimal counts in.
fn decimal(number: &Number) -> i64 {
    number
        .as_i64()
        .and_then(|whole| whole.checked_mul(10_000))
        .unwrap_or_else(|| ten_thousandths(&number.to_string()))
}

/// Works on digits, so that 100.1 stays 100.1; what is lost is rounded away from zero, so that no limit is slipped under by a hair.
pub(crate) fn ten_thousandths(text: &str) -> i64 {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let scaled = scaled(digits);
    if negative { -scaled } else { scaled }
}

fn scaled(digits: &str) -> i64 {
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(if exponent.starts_with('-') {
        i32::MIN
    } else {
        i32::MAX
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    // The place of the point after scaling by ten thousand.
    let point = i64::try_from(whole.len())
        .unwrap_or(i64::MAX)
        .saturating_add(i64::from(exponent))
        .saturating_add(4);
    let mut value: i64 = 0;
    for place in 0..point.clamp(0, 64) {
        let digit = usize::try_from(place)
            .ok()
            .and_then(|i| all.get(i))
            .map_or(0, |b| i64::from(b.saturating_sub(b'0')));
        value = value.saturating_mul(10).saturating_add(digit);
    }
    let kept = usize::try_from(point.max(0)).unwrap_or(usize::MAX);
    let lost = all.iter().skip(kept).any(|digit| *digit != b'0');
    if lost { value.saturating_add(1) } else { value }
}

/// Ten-thousandths as Cedar's `decimal` takes them.
fn written(scaled: i64) -> String {
    let sign = if scaled < 0 { "-" } else { "" };
    let magnitude = scaled.unsigned_abs();
    format!("{sign}{}.{:04}", magnitude / 10_000, magnitude % 10_000)
}

#[cfg(test)]
mod tests {
    use serde_json::{Number, Value};

    use super::{decimal, integer, written};

    fn number(text: &str) -> Number {
        let Ok(Value::Number(number)) = serde_json::from_str(text) else {
            panic!("{text} is a number")
        };
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
            ("-9223372036854775808", "-922337203685477.5807"),
            ("1.5e3", "1500.0000"),
            ("92233720368547.5", "92233720368547.5000"),
        ] {
            assert_eq!(written(decimal(&number(text))), want, "{text}");
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
