//! Which parts of a text are secrets: by the name they stand under, by the form of a url or connection string, by known prefixes.
//!
//! When in doubt it is a secret: a plain value in the vault does no harm, a secret in a configuration file does.

use std::ops::Range;

use serde_json::Value;

mod names;
mod tokens;
mod urls;

pub use names::names_secret;
pub(super) use urls::credential_spans;

use names::tells_secret;
use tokens::known_tokens;

/// Whether this value of a variable of this name is or holds a secret, so that it is better kept in the vault.
#[must_use]
pub fn holds_secret(name: &str, value: &str) -> bool {
    !spans(value, Place::Env(name)).is_empty()
}

/// Where a text stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// Value of a variable of the environment.
    Env(&'a str),
    /// Value of a header.
    Header(&'a str),
    /// An argument, with the flag before it.
    Arg(Option<&'a str>),
    /// A field that is always a secret.
    Secret,
    /// Anything else.
    Plain,
}

/// The secret parts, in order, not overlapping.
pub(super) fn spans(text: &str, place: Place<'_>) -> Vec<Range<usize>> {
    let mut found = match place {
        Place::Secret => whole(text, 0),
        Place::Env(name) | Place::Header(name) if tells_secret(name, text) => whole(text, 0),
        Place::Arg(flag) => argument(text, flag),
        Place::Env(_) | Place::Header(_) | Place::Plain => Vec::new(),
    };
    if holds_secret_json(text) {
        found.push(0..text.len());
    }
    found.extend(credential_spans(text));
    found.extend(known_tokens(text));
    merge(found)
}

/// An argument: the value of a telling flag, `NAME=value`, `--flag=value`, or a whole header.
fn argument(text: &str, flag: Option<&str>) -> Vec<Range<usize>> {
    if let Some(flag) = flag.filter(|flag| flag.starts_with('-')) {
        if matches!(flag, "-H" | "--header" | "--headers") {
            return header_line(text);
        }
        if tells_secret(flag, text) && !text.starts_with('-') {
            return whole(text, 0);
        }
    }
    match text.split_once('=') {
        Some((name, value)) if matches!(name, "--header" | "-H") => header_line(value)
            .into_iter()
            .map(|span| shift(span, name.len() + 1))
            .collect(),
        Some((name, value)) if names::is_plain(name) && tells_secret(name, value) => {
            whole(value, name.len() + 1)
        }
        _ => Vec::new(),
    }
}

fn header_line(text: &str) -> Vec<Range<usize>> {
    match text.split_once([':', '=']) {
        Some((name, value)) if tells_secret(name, value) => whole(value, name.len() + 1),
        _ => Vec::new(),
    }
}

/// A whole value but for white space and the name of a scheme before it, unless it can be no secret.
fn whole(value: &str, offset: usize) -> Vec<Range<usize>> {
    let trimmed = value.trim();
    let start = value.len() - value.trim_start().len();
    let scheme = trimmed.split_once(' ').filter(|(scheme, _)| is_scheme(scheme));
    let skipped = scheme.map_or(0, |(scheme, rest)| {
        scheme.len() + 1 + rest.len() - rest.trim_start().len()
    });
    let secret = trimmed.get(skipped..).unwrap_or_default();
    if is_trivial(secret) || (scheme.is_none() && is_scheme(secret)) {
        return Vec::new();
    }
    let from = offset + start + skipped;
    std::iter::once(from..from + secret.len()).collect()
}

fn is_scheme(word: &str) -> bool {
    let schemes = [
        "bearer",
        "basic",
        "token",
        "apikey",
        "api-key",
        "key",
        "bot",
        "digest",
        "oauth",
        "negotiate",
    ];
    schemes.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Values that are settings rather than secrets, whatever their name.
fn is_trivial(value: &str) -> bool {
    value.is_empty()
        || ["true", "false", "yes", "no", "on", "off", "none", "null"]
            .iter()
            .any(|w| value.eq_ignore_ascii_case(w))
        || (value.len() < 4 && value.bytes().all(|b| b.is_ascii_digit()))
}

/// JSON inside a text, with a secret in it: the whole text counts.
fn holds_secret_json(text: &str) -> bool {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[']) || text.len() > 65_536 {
        return false;
    }
    serde_json::from_str::<Value>(text).is_ok_and(|value| json_has_secret(&value, false))
}

fn json_has_secret(value: &Value, named: bool) -> bool {
    match value {
        Value::String(text) => {
            (named && !is_trivial(text))
                || !known_tokens(text).is_empty()
                || !credential_spans(text).is_empty()
        }
        Value::Array(items) => items.iter().any(|item| json_has_secret(item, named)),
        Value::Object(map) => map
            .iter()
            .any(|(key, item)| json_has_secret(item, named || names_secret(key))),
        Value::Number(number) => named && !is_trivial(&number.to_string()),
        Value::Null | Value::Bool(_) => false,
    }
}

fn shift(span: Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}

fn merge(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.retain(|span| span.start < span.end);
    spans.sort_by_key(|span| span.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
