//! What is taken for a secret and what is not.

use super::{Place, holds_secret, names_secret, spans};

fn check(place: Place<'_>, text: &str, expected: &[&str]) {
    let found: Vec<&str> = spans(text, place)
        .into_iter()
        .map(|span| text.get(span).expect("a span of the text"))
        .collect();
    assert_eq!(found, expected, "{text} in {place:?}");
}

/// Names and values: which are secrets. A name alone is held to what it says with a value that could be either.
const VARIABLES: &[(&str, &str, bool)] = &[
    // The name says it.
    ("API_KEY", "abc", true),
    ("exaApiKey", "abc", true),
    ("X-Api-Key", "abc", true),
    ("GITHUB_PERSONAL_ACCESS_TOKEN", "abc", true),
    ("--access-token", "abc", true),
    ("PGPASSWORD", "postgres", true),
    ("DB_PASSWORD", "123456", true),
    ("DB_PASSWORD", "/starts/like/a/path", true),
    ("auth", "abc", true),
    ("KEY", "abc", true),
    ("TOKEN_SECRET", "abc", true),
    ("ACCESS_TOKEN_2", "abc", true),
    ("REFRESHTOKEN", "abc", true),
    ("CLIENT_SECRETS", "abc", true),
    ("AWS_ACCESS_KEY_ID", "abc", true),
    ("SESSION_COOKIE", "abc", true),
    // Nothing is under it, or a switch.
    ("API_KEY", "", false),
    ("USE_TOKEN", "true", false),
    ("COOKIE_AUTH", "off", false),
    // Amounts and bounds.
    ("MAX_TOKENS", "4096", false),
    ("MAX_OUTPUT_TOKENS", "1_000", false),
    ("maxTokens", "8k", false),
    ("TOKENS_PER_MINUTE", "100000", false),
    ("TOKEN_LIMIT", "64000", false),
    ("THINKING_TOKEN_BUDGET", "16384", false),
    ("PROMPT_TOKENS", "2048", false),
    ("PASSWORD_MIN_LENGTH", "1000", false),
    ("TOKEN_TTL", "3600s", false),
    ("AUTH_TIMEOUT_MS", "30000", false),
    ("KEY_ROTATION_DAYS", "90", false),
    // They are called like one, and hold another thing.
    ("API_TOKENS", "abc,def", true),
    ("MAX_API_KEY", "abcdef", true),
    ("TOKENS", "tok_1 tok_2", true),
    ("TOKEN_LIMIT", "ghp_0123456789abcdef", true),
    // Another word altogether.
    ("TOKENIZER_PATH", "/models/tokenizer.json", false),
    ("TOKENIZER", "cl100k_base", false),
    ("TOKENIZERS_PARALLELISM", "4000", false),
    ("KEYBOARD_LAYOUT", "de", false),
    ("AUTHOR", "me", false),
    ("PASSWORDLESS_LOGIN", "maybe", false),
    ("SECRETARY_EMAIL", "a@b.example", false),
    ("monkey", "abc", false),
    ("IDE_PORT", "abc", false),
    ("REGION", "abc", false),
    ("X-Team", "abc", false),
    ("", "abc", false),
    // Where it is, or of what kind.
    ("KEY_FILE", "/etc/keys/one.pem", false),
    (
        "GDRIVE_CREDENTIALS_PATH",
        "/home/u/client_secret_0123456789abcdef.json",
        false,
    ),
    ("AUTH_URL", "https://a.example/login", false),
    ("SSH_AUTH_SOCK", "/run/user/1000/agent", false),
    ("AUTH_TYPE", "oauth", false),
    ("COOKIE_DOMAIN", "a.example", false),
    ("SECRET_NAME", "prod-database-2024", false),
    ("CACHE_KEY_PREFIX", "app:", false),
    ("SSH_PUBLIC_KEY", "ssh-ed25519 me@host", false),
    // But not when it is the thing itself.
    ("KEY_FILE", "d41d8cd98f00b204e9800998ecf8427e", true),
    ("TOKEN_NAME", "ghp_0123456789abcdef", true),
    ("AUTH_URL", "https://user:pw@a.example/login", true),
    ("SECRET_TYPE", "sk-0123456789abcdef", true),
    ("PLAIN", "postgresql://u:pw@db:5432/x", true),
    ("PLAIN", "-----BEGIN RSA PRIVATE KEY-----", true),
    ("COMMIT", "d41d8cd98f00b204e9800998ecf8427e", false),
];

#[test]
fn variables() {
    for (name, value, secret) in VARIABLES {
        assert_eq!(holds_secret(name, value), *secret, "{name}={value}");
    }
}

/// Where only the name is known: a flag, or a reference to a variable.
#[test]
fn names() {
    for name in ["API_KEY", "--access-token", "PGPASSWORD", "auth", "KEY"] {
        assert!(names_secret(name), "{name}");
    }
    for name in [
        "",
        "IDE_PORT",
        "KEY_FILE",
        "AUTH_URL",
        "MAX_TOKENS",
        "TOKENIZER",
        "monkey",
        "X-Team",
    ] {
        assert!(!names_secret(name), "{name}");
    }
}

#[test]
fn places() {
    check(Place::Env("API_KEY"), "abc", &["abc"]);
    check(Place::Env("API_KEY"), "", &[]);
    check(Place::Env("TOKEN"), "true", &[]);
    check(Place::Env("NAME"), "abc", &[]);
    check(
        Place::Env("HEADERS"),
        r#"{"Authorization":"Bearer x"}"#,
        &[r#"{"Authorization":"Bearer x"}"#],
    );
    check(Place::Env("HEADERS"), r#"{"Accept":"x"}"#, &[]);
    check(Place::Header("Authorization"), "Bearer  abc", &["abc"]);
    check(Place::Header("Authorization"), "Bearer", &[]);
    check(Place::Header("X-Team"), "core", &[]);
    check(Place::Arg(Some("--access-token")), "abc", &["abc"]);
    check(Place::Arg(Some("--access-token")), "--next", &[]);
    check(
        Place::Arg(Some("--header")),
        "Authorization: Bearer abc",
        &["abc"],
    );
    check(Place::Arg(Some("-e")), "API_KEY=abc", &["abc"]);
    check(Place::Arg(None), "--api-key=abc", &["abc"]);
    check(Place::Arg(None), "--port=abc", &[]);
    check(
        Place::Arg(None),
        "ghp_0123456789abcdef",
        &["ghp_0123456789abcdef"],
    );
}

#[test]
fn urls_and_connection_strings() {
    check(Place::Plain, "postgresql://u:pw@db:5432/x", &["pw"]);
    check(Place::Plain, "postgresql://u:p/w@db:5432/x", &["p/w"]);
    check(Place::Plain, "postgresql://u@db/x", &[]);
    check(Place::Plain, "https://tok@host/mcp", &["tok"]);
    check(
        Place::Plain,
        "https://user:pw@host/mcp?api_key=k&page=2#x",
        &["pw", "k"],
    );
    check(Place::Plain, "https://host:8080/@scope/pkg", &[]);
    check(
        Place::Plain,
        "https://host/api/s/ZkYx1234567890abcdefQQQQ/mcp",
        &["ZkYx1234567890abcdefQQQQ"],
    );
    check(Place::Plain, "Server=db;User Id=u;Password=p;Port=1", &["p"]);
    check(Place::Plain, "host=db password=p", &["p"]);
    check(Place::Plain, "https://mcp.example.com/mcp", &[]);
    check(Place::Plain, "äöü://ß:é@ü", &["é"]);
}
