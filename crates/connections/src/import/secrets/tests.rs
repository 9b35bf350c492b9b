//! What is taken for a secret and what is not.

use super::{Place, names_secret, spans};

fn check(place: Place<'_>, text: &str, expected: &[&str]) {
    let found: Vec<&str> = spans(text, place)
        .into_iter()
        .map(|span| text.get(span).expect("a span of the text"))
        .collect();
    assert_eq!(found, expected, "{text} in {place:?}");
}

#[test]
fn names() {
    for name in [
        "API_KEY",
        "exaApiKey",
        "X-Api-Key",
        "GITHUB_PERSONAL_ACCESS_TOKEN",
        "--access-token",
        "PGPASSWORD",
        "auth",
        "KEY",
    ] {
        assert!(names_secret(name), "{name}");
    }
    for name in [
        "",
        "IDE_PORT",
        "KEY_FILE",
        "AUTH_URL",
        "MAX_TOKENS",
        "REGION",
        "monkey",
        "GDRIVE_CREDENTIALS_PATH",
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
