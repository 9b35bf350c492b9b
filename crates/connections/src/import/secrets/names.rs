//! Names that announce a secret.

/// Whether a variable, header, flag or field of this name holds a secret.
pub(in crate::import) fn names_secret(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else { return false };
    if NOT_THE_SECRET.contains(&last.as_str()) || words.iter().any(|word| word == "max") {
        return false;
    }
    words
        .iter()
        .any(|word| WHOLE.contains(&word.as_str()) || PARTS.iter().any(|part| word.contains(part)))
}

/// Whether text before `=` can be a name at all, rather than a piece of prose or a url.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

const WHOLE: &[&str] = &[
    "key",
    "keys",
    "pat",
    "pwd",
    "pass",
    "auth",
    "cookie",
    "bearer",
    "jwt",
    "signature",
    "sig",
    "creds",
    "cred",
    "otp",
];
const PARTS: &[&str] = &[
    "token",
    "secret",
    "passw",
    "passphrase",
    "apikey",
    "accesskey",
    "credential",
    "authorization",
    "privatekey",
];

/// `…_PATH` of a key is a path, `…_URL` an address (looked at by itself), and so on.
const NOT_THE_SECRET: &[&str] = &[
    "path",
    "file",
    "filename",
    "dir",
    "directory",
    "url",
    "uri",
    "endpoint",
    "host",
    "hostname",
    "port",
    "name",
    "type",
    "region",
    "algorithm",
    "alg",
    "enabled",
    "timeout",
    "limit",
    "count",
    "size",
    "expiry",
    "ttl",
    "method",
    "mode",
    "tokens",
    "issuer",
    "audience",
    "scope",
    "scopes",
];

/// The words of a name, in lower case: split at anything but letters and digits, and where small letters turn to capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_small = false;
    for c in name.chars().take(256) {
        if !c.is_alphanumeric() || (after_small && c.is_uppercase()) {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase() || c.is_numeric();
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}
