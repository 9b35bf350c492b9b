//! DNS rebinding: names that are not ours in `Host`, in the request line and in `Origin`, on every kind of route, with a valid key.

use testkit::house::House;

use super::raw::{exchange, status};

const ROUTES: &[&str] = &[
    "/health",
    "/docs",
    "/api/v1/agents",
    "/mcp/default",
    "/approvals/00000000-0000-7000-8000-000000000000",
    "/nothing",
];

/// Header lines, and whether they are let through.
const HEADS: &[(&str, bool)] = &[
    ("Host: localhost", true),
    ("Host: LOCALHOST:1", true),
    ("Host: 127.0.0.1:7100", true),
    ("Host: 127.255.255.254", true),
    ("Host: [::1]:7100", true),
    ("Host: evil.example", false),
    ("Host: localhost.evil.example", false),
    ("Host: evil.example:80", false),
    ("Host: localhost:80@evil.example", false),
    ("Host: localhost@evil.example", false),
    ("Host: localhost evil.example", false),
    ("Host: localhost, evil.example", false),
    ("Host: localhost.", false),
    ("Host: 127.0.0.1.nip.example", false),
    ("Host: 2130706433", false),
    ("Host: 0x7f.1", false),
    ("Host: 0177.0.0.1", false),
    ("Host: 0.0.0.0", false),
    ("Host: [::ffff:127.0.0.1]", false),
    ("Host: [::]", false),
    ("Host: [::1]evil.example", false),
    ("Host: [::1", false),
    ("Host: 192.168.0.1", false),
    ("Host: 169.254.169.254", false),
    ("Host: xn--lcalhost-54a", false),
    ("Host: l\u{f6}calhost", false),
    ("Host: http://localhost", false),
    ("Host:", false),
    ("X-Forwarded-Host: localhost", false),
    ("Host: localhost\r\nHost: evil.example", false),
    ("Host: evil.example\r\nHost: localhost", false),
    ("Host: localhost\r\nHost: localhost", false),
    ("Host: evil.example\r\nX-Forwarded-Host: localhost", false),
    ("Host: evil.example\r\nForwarded: host=localhost", false),
    ("Host: localhost\r\nOrigin: http://localhost:3000", true),
    ("Host: localhost\r\nOrigin: https://127.0.0.1", true),
    ("Host: localhost\r\nOrigin: http://[::1]:5173", true),
    ("Host: localhost\r\nOrigin: https://evil.example", false),
    ("Host: localhost\r\nOrigin: null", false),
    ("Host: localhost\r\nOrigin:", false),
    ("Host: localhost\r\nOrigin: localhost", false),
    ("Host: localhost\r\nOrigin: file://", false),
    ("Host: localhost\r\nOrigin: file://localhost", false),
    ("Host: localhost\r\nOrigin: chrome-extension://abcdefgh", false),
    ("Host: localhost\r\nOrigin: http://localhost@evil.example", false),
    ("Host: localhost\r\nOrigin: http://localhost.evil.example", false),
    ("Host: localhost\r\nOrigin: http://127.0.0.1.evil.example", false),
    (
        "Host: localhost\r\nOrigin: http://localhost,http://evil.example",
        false,
    ),
    (
        "Host: localhost\r\nOrigin: http://localhost http://evil.example",
        false,
    ),
    (
        "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example",
        false,
    ),
    (
        "Host: localhost\r\nOrigin: https://evil.example\r\nOrigin: http://localhost",
        false,
    ),
    ("Host: evil.example\r\nOrigin: http://localhost", false),
];

#[tokio::test]
async fn names_that_are_not_ours() {
    let house = House::start(&[]).await;
    let key = format!("Authorization: Bearer {}", house.admin);
    let mut tried = 0;
    for (head, allowed) in HEADS {
        for route in ROUTES {
            let request = format!("GET {route} HTTP/1.1\r\n{head}\r\n{key}\r\nConnection: close\r\n\r\n");
            let got = status(&exchange(&house, request).await);
            // What HTTP itself forbids may be refused as that.
            let refused = got == 403 || got == 400;
            assert_eq!(refused, !allowed, "{route} {head:?}: {got}");
            tried += 1;
        }
    }
    println!("{tried} requests under {} heads", HEADS.len());
}

#[tokio::test]
async fn a_request_line_that_names_a_host() {
    let house = House::start(&[]).await;
    for (line, host, want) in [
        ("http://localhost/health", "localhost", 200),
        ("http://evil.example/health", "localhost", 403),
        ("http://localhost/health", "evil.example", 403),
        ("http://localhost:1/health", "localhost:2", 403),
        ("http://user@localhost/health", "localhost", 403),
        ("//evil.example/health", "localhost", 404),
    ] {
        let request = format!("GET {line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(status(&exchange(&house, request).await), want, "{line} {host}");
    }
    // HTTP/1.0 needs no Host; this server does.
    assert_eq!(
        status(&exchange(&house, "GET /health HTTP/1.0\r\n\r\n").await),
        403
    );
}
