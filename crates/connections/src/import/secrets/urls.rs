//! Credentials inside urls and connection strings.

use std::ops::Range;

use super::{is_trivial, tells_secret};

/// Urls looked at in one text; the rest of such a text counts as a secret.
const MAX_URLS: usize = 64;

/// Longest url that is looked into.
const MAX_URL_BYTES: usize = 8_192;

/// Passwords before the host, secret query parameters, tokens in the path, and `password=…` of other connection strings.
pub(in crate::import) fn credential_spans(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut urls = 0;
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find("://")) {
        urls += 1;
        if urls > MAX_URLS {
            found.push(at..text.len());
            return found;
        }
        let start = at + offset + 3;
        let scheme = text.get(at..at + offset).unwrap_or_default();
        let rest = text.get(start..).unwrap_or_default();
        let rest = rest
            .get(..rest.floor_char_boundary(MAX_URL_BYTES))
            .unwrap_or_default();
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>'))
            .unwrap_or(rest.len());
        let url = rest.get(..end).unwrap_or_default();
        found.extend(
            in_url(scheme, url)
                .into_iter()
                .map(|span| span.start + start..span.end + start),
        );
        at = start;
    }
    found.extend(assignments(text));
    found
}

fn in_url(scheme: &str, url: &str) -> Vec<Range<usize>> {
    let web = scheme.ends_with("http") || scheme.ends_with("https");
    let mut found = Vec::new();
    let query_at = url.find('?').unwrap_or(url.len());
    let before = url.get(..query_at).unwrap_or_default();
    let host_at = user_info(before, web, &mut found);
    if web {
        let path = before
            .get(host_at..)
            .and_then(|rest| rest.find('/'))
            .map(|slash| host_at + slash);
        if let Some(path_at) = path {
            path_tokens(before.get(path_at..).unwrap_or_default(), path_at, &mut found);
        }
    }
    let mut at = query_at + 1;
    for pair in url.get(at..).unwrap_or_default().split(['&', '#']) {
        if let Some((name, value)) = pair.split_once('=')
            && (tells_secret(name, value) || name.eq_ignore_ascii_case("code"))
            && !is_trivial(value)
        {
            let from = at + name.len() + 1;
            found.push(from..from + value.len());
        }
        at += pair.len() + 1;
    }
    found
}

/// Notes the password (or a lone token) before the host and tells where the host starts.
fn user_info(before: &str, web: bool, found: &mut Vec<Range<usize>>) -> usize {
    let authority_end = before.find('/').unwrap_or(before.len());
    let authority = before.get(..authority_end).unwrap_or_default();
    // Passwords with a slash in them are written in the wild; a port is what else follows a colon.
    let slash_in_password = authority
        .split_once(':')
        .is_some_and(|(_, port)| !port.bytes().all(|b| b.is_ascii_digit()));
    let searched = if authority.contains('@') || !slash_in_password {
        authority
    } else {
        before
    };
    let Some(sign) = searched.rfind('@') else { return 0 };
    let info = searched.get(..sign).unwrap_or_default();
    match info.split_once(':') {
        Some((user, password)) if !password.is_empty() => found.push(user.len() + 1..sign),
        Some((user, _)) if web => found.push(0..user.len()),
        None if web => found.push(0..sign),
        _ => {}
    }
    sign + 1
}

/// Path segments that are long and random enough to be a capability ("…/s/Zk3…/mcp").
fn path_tokens(path: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let mut at = offset;
    for segment in path.split('/') {
        let digits = segment.bytes().filter(u8::is_ascii_digit).count();
        let letters = segment.bytes().filter(u8::is_ascii_alphabetic).count();
        let random = segment
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'=' | b'~'));
        if segment.len() >= 24 && random && digits >= 4 && letters >= 4 {
            found.push(at..at + segment.len());
        }
        at += segment.len() + 1;
    }
}

/// `Server=db;Password=x` and `host=db password=x`.
fn assignments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.contains("://") || !text.contains('=') {
        return found;
    }
    let mut at = 0;
    for piece in text.split([';', ' ', '\n']) {
        if let Some((name, value)) = piece.split_once('=')
            && piece.len() < text.len()
            && tells_secret(name, value)
            && !is_trivial(value)
        {
            let from = at + name.len() + 1;
            found.push(from..from + value.len());
        }
        at += piece.len() + 1;
    }
    found
}
