//! Names that announce a secret, and the values under them that are none.

/// Whether a variable, header, flag or field of this name holds a secret, as far as the name tells.
pub fn names_secret(name: &str) -> bool {
    says(name) == Says::Secret
}

/// Whether this value under this name is a secret because of the name: under `API_KEY` it is, whatever it is; under `TOKEN_LIMIT` unless it
/// is a number; under `KEY_FILE` only if it looks like one.
pub(super) fn tells_secret(name: &str, value: &str) -> bool {
    match says(name) {
        Says::Secret => true,
        Says::Measure => !is_measure(value.trim()),
        Says::About => looks_drawn(value),
        Says::Nothing => false,
    }
}

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// It is a secret.
    Secret,
    /// It counts or bounds secrets, or things that are called like one.
    Measure,
    /// It says where a secret is, or of what kind.
    About,
    /// It has nothing to do with secrets.
    Nothing,
}

fn says(name: &str) -> Says {
    let words = words(name);
    let Some(last) = words.last().map(String::as_str) else {
        return Says::Nothing;
    };
    let is_secret = |word: &str| {
        WHOLE.contains(&word)
            || (PARTS.iter().any(|part| word.contains(part)) && !OTHER_WORDS.contains(&word))
    };
    if !words.iter().any(|word| is_secret(word)) {
        Says::Nothing
    } else if last == "tokens" || words.iter().any(|word| MEASURES.contains(&word.as_str())) {
        Says::Measure
    } else if NOT_THE_SECRET.contains(&last) || words.iter().any(|word| PUBLIC.contains(&word.as_str())) {
        Says::About
    } else {
        Says::Secret
    }
}

/// A number, with a short unit at most: `4096`, `1_000`, `0.5`, `30s`, `500ms`, `80%`.
fn is_measure(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    value.len() - number.len() <= 3
        && number.len() <= 12
        && number.starts_with(|c: char| c.is_ascii_digit())
        && number
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'_' | b'.' | b','))
}

/// Letters and digits as nobody writes them, and no path.
fn looks_drawn(value: &str) -> bool {
    let drawn = |run: &str| {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        run.len() >= 16 && digits >= 3 && run.len() - digits >= 3
    };
    !value.contains(['/', '\\']) && value.split(|c: char| !c.is_ascii_alphanumeric()).any(drawn)
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

/// Words with one of these parts in them that mean something else.
const OTHER_WORDS: &[&str] = &[
    "tokenizer",
    "tokenizers",
    "tokenize",
    "tokenized",
    "tokenization",
    "detokenize",
    "detokenizer",
    "passwordless",
    "secretary",
    "secretariat",
];

/// A word for an amount or a bound, anywhere in a name.
const MEASURES: &[&str] = &[
    "max",
    "min",
    "maximum",
    "minimum",
    "limit",
    "limits",
    "budget",
    "count",
    "counts",
    "num",
    "number",
    "size",
    "length",
    "len",
    "per",
    "rate",
    "quota",
    "window",
    "total",
    "threshold",
    "ttl",
    "age",
    "expiry",
    "expiration",
    "expires",
    "lifetime",
    "timeout",
    "interval",
    "retries",
    "seconds",
    "secs",
    "ms",
    "minutes",
    "hours",
    "days",
];

/// Keys that everybody may know.
const PUBLIC: &[&str] = &["public", "pubkey"];

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
    "method",
    "mode",
    "issuer",
    "audience",
    "scope",
    "scopes",
    "sock",
    "socket",
    "prefix",
    "suffix",
    "separator",
    "format",
    "policy",
    "provider",
    "kind",
    "domain",
    "realm",
    "folder",
    "store",
    "strategy",
    "backend",
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
