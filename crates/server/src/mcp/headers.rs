//! What the headers of a request must say: what is accepted, and what of the body a modern client repeats there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gateway::{Failure, FailureKind, Mirrored};
use http::{HeaderMap, HeaderName, header};
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::{RpcError, codes};
use super::wire::Members;

/// Whether a request says what it sends: JSON.
pub(super) fn sends_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    kind.split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case("application/json")
}

/// Whether a request takes these media types. One that says nothing takes anything (RFC 9110, 12.5.1).
pub(super) fn accepts(headers: &HeaderMap, wanted: &[&str]) -> bool {
    let mut given = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .peekable();
    if given.peek().is_none() {
        return true;
    }
    let ranges: Vec<String> = given
        .flat_map(|value| value.split(','))
        .map(|range| {
            range
                .split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase()
        })
        .collect();
    wanted.iter().all(|kind| {
        let all_of = kind
            .split_once('/')
            .map(|(main, _)| format!("{main}/*"))
            .unwrap_or_default();
        ranges
            .iter()
            .any(|range| range == kind || *range == all_of || range == "*/*")
    })
}

/// The refusals of both, as problems.
pub(super) fn not_json() -> Failure {
    Failure::new(
        FailureKind::Malformed,
        "mcp.media_type",
        "send the message as application/json",
    )
}

/// See [`accepts`].
pub(super) fn not_acceptable(what: &str) -> Failure {
    Failure::new(
        FailureKind::Malformed,
        "mcp.not_acceptable",
        format!("the Accept header must take {what}"),
    )
}

/// Checks what a modern client repeats of the body (2026-07-28, Streamable HTTP, "Server Validation").
pub(super) fn repeat_body(headers: &HeaderMap, method: &str, params: &Members<'_>) -> Result<(), RpcError> {
    let said = one(headers, "mcp-method")?.ok_or_else(|| mismatch("the Mcp-Method header is missing"))?;
    if said != method {
        return Err(mismatch(
            "the Mcp-Method header and the body name different methods",
        ));
    }
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let named = params.text(member);
    let said = one(headers, "mcp-name")?.map(decoded).transpose()?;
    match (said, named) {
        (Some(said), Some(named)) if said == named => Ok(()),
        (None, _) => Err(mismatch("the Mcp-Name header is missing")),
        (Some(_), _) => Err(mismatch("the Mcp-Name header and the body differ")),
    }
}

/// Checks the arguments that headers repeat.
pub(super) fn repeat_arguments(
    headers: &HeaderMap,
    mirrored: &[Mirrored],
    arguments: Option<&RawValue>,
) -> Result<(), RpcError> {
    if mirrored.is_empty() {
        return Ok(());
    }
    let arguments: Value = arguments
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    for Mirrored { header, path } in mirrored {
        let value = path
            .iter()
            .try_fold(&arguments, |value, key| value.get(key))
            .filter(|value| !value.is_null());
        let Ok(name) = HeaderName::from_bytes(header.as_bytes()) else {
            continue;
        };
        let said = one(headers, name.as_str())?.map(decoded).transpose()?;
        let same = match (&said, value) {
            (None, None) => true,
            (Some(said), Some(value)) => equal(said, value),
            _ => false,
        };
        if !same {
            return Err(mismatch(&format!(
                "the header {header} and the argument {} differ",
                path.join(".")
            )));
        }
    }
    Ok(())
}

pub(super) fn mismatch(what: &str) -> RpcError {
    RpcError::new(codes::HEADER_MISMATCH, format!("header mismatch: {what}"))
}

fn equal(said: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => said == text,
        Value::Bool(flag) => said == if *flag { "true" } else { "false" },
        // `42` and `42.0` are the same number.
        Value::Number(number) => said == number.to_string() || said.parse().ok() == number.as_f64(),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    match (first, second) {
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err(mismatch(&format!("the header {name} is given more than once"))),
        (Some(value), None) => match value.to_str() {
            Ok(text) => Ok(Some(text.trim_matches([' ', '\t']))),
            Err(_) => Err(mismatch(&format!(
                "the header {name} holds characters that belong in base64"
            ))),
        },
    }
}

/// A header's value as it was before it was encoded ("Value Encoding").
fn decoded(text: &str) -> Result<String, RpcError> {
    let Some(encoded) = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Ok(text.to_owned());
    };
    let bytes = STANDARD
        .decode(encoded)
        .map_err(|_| mismatch("a header value is not valid base64"))?;
    String::from_utf8(bytes).map_err(|_| mismatch("a header value is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use gateway::Mirrored;
    use http::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::value::RawValue;

    use super::{accepts, repeat_arguments, repeat_body, sends_json};
    use crate::mcp::wire::Members;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            )
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn media_types() {
        let both = ["application/json", "text/event-stream"];
        let cases: [(&[(&str, &str)], bool); 7] = [
            (&[], true),
            (&[("accept", "*/*")], true),
            (&[("accept", "application/json, text/event-stream")], true),
            (
                &[
                    ("accept", "text/event-stream;q=0.9"),
                    ("accept", "Application/JSON"),
                ],
                true,
            ),
            (&[("accept", "application/*, text/*")], true),
            (&[("accept", "application/json")], false),
            (&[("accept", "text/html")], false),
        ];
        for (given, want) in cases {
            assert_eq!(accepts(&headers(given), &both), want, "{given:?}");
        }
        for (given, want) in [
            ("application/json; charset=utf-8", true),
            ("text/json", false),
            ("", false),
        ] {
            assert_eq!(sends_json(&headers(&[("content-type", given)])), want, "{given}");
        }
    }

    #[test]
    fn the_body_is_repeated() {
        let params = RawValue::from_string(r#"{"name":"größe","arguments":{}}"#.to_owned()).unwrap();
        let params = Members::read(&params).unwrap();
        let check = |given: &[(&str, &str)], want: bool| {
            let checked = repeat_body(&headers(given), "tools/call", &params);
            assert_eq!(checked.is_ok(), want, "{given:?}: {checked:?}");
        };
        let encoded = "=?base64?Z3LDtsOfZQ==?=";
        check(&[("mcp-method", "tools/call"), ("mcp-name", encoded)], true);
        check(&[("mcp-method", " tools/call"), ("mcp-name", encoded)], true);
        check(&[("mcp-method", "tools/call"), ("mcp-name", "groesse")], false);
        check(
            &[("mcp-method", "tools/call"), ("mcp-name", "=?base64?%%?=")],
            false,
        );
        check(&[("mcp-method", "tools/call")], false);
        check(&[("mcp-method", "Tools/Call"), ("mcp-name", encoded)], false);
        check(&[("mcp-name", encoded)], false);
        assert!(
            repeat_body(
                &headers(&[("mcp-method", "tools/list")]),
                "tools/list",
                &Members::default()
            )
            .is_ok()
        );
    }

    #[test]
    fn arguments_are_repeated() {
        let mirrored = [
            Mirrored {
                header: "mcp-param-region".to_owned(),
                path: vec!["region".to_owned()],
            },
            Mirrored {
                header: "mcp-param-n".to_owned(),
                path: vec!["deep".to_owned(), "n".to_owned()],
            },
        ];
        let check = |given: &[(&str, &str)], arguments: &str, want: bool| {
            let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
            let checked = repeat_arguments(&headers(given), &mirrored, Some(&arguments));
            assert_eq!(checked.is_ok(), want, "{given:?} {arguments}: {checked:?}");
        };
        check(
            &[("mcp-param-region", "eu"), ("mcp-param-n", "42.0")],
            r#"{"region":"eu","deep":{"n":42}}"#,
            true,
        );
        check(
            &[("mcp-param-region", "=?base64?SGVsbG8=?=")],
            r#"{"region":"Hello"}"#,
            true,
        );
        check(
            &[("mcp-param-region", "=?base64?SGVsbG8?=")],
            r#"{"region":"Hello"}"#,
            false,
        );
        check(
            &[("mcp-param-region", "SGVsbG8=")],
            r#"{"region":"Hello"}"#,
            false,
        );
        check(&[], r#"{"region":null}"#, true);
        check(&[], r#"{"region":"eu"}"#, false);
        check(&[("mcp-param-region", "eu")], "{}", false);
    }
}
