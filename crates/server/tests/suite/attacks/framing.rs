//! Where a request ends and the next begins: smuggling, malformed heads, floods of headers, methods nobody serves.

use testkit::house::House;

use super::raw::{exchange, responses, status, still_serves};

/// What must never be answered as a request of its own: its path is echoed in the answer to it.
const HIDDEN: &str = "GET /hidden-request HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A name, header lines and a body. All are refused, or answered once and closed.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn forms() -> Vec<(&'static str, String, String)> {
    let hidden = HIDDEN.len();
    let chunked = format!("0\r\n\r\n{HIDDEN}");
    let plain = |name, head: &str, body: &str| (name, head.to_owned(), body.to_owned());
    vec![
        (
            "TE and CL",
            format!(
                "Content-Length: {}\r\nTransfer-Encoding: chunked\r\n",
                chunked.len()
            ),
            chunked.clone(),
        ),
        (
            "CL and TE, long",
            format!(
                "Transfer-Encoding: chunked\r\nContent-Length: {}\r\n",
                chunked.len()
            ),
            chunked.clone(),
        ),
        (
            "two lengths",
            format!("Content-Length: 0\r\nContent-Length: {hidden}\r\n"),
            HIDDEN.to_owned(),
        ),
        (
            "two lengths, turned",
            format!("Content-Length: {hidden}\r\nContent-Length: 0\r\n"),
            HIDDEN.to_owned(),
        ),
        (
            "a list of lengths",
            format!("Content-Length: 0, {hidden}\r\n"),
            HIDDEN.to_owned(),
        ),
        plain("a signed length", "Content-Length: +0\r\n", HIDDEN),
        plain("a negative length", "Content-Length: -1\r\n", HIDDEN),
        plain("a length in hex", "Content-Length: 0x0\r\n", HIDDEN),
        plain("a length with a space inside", "Content-Length: 0 0\r\n", HIDDEN),
        plain("an empty length", "Content-Length: \r\n", HIDDEN),
        plain(
            "a length too long",
            "Content-Length: 99999999999999999999999999\r\n",
            HIDDEN,
        ),
        plain(
            "chunked is not last",
            "Transfer-Encoding: chunked, identity\r\n",
            &chunked,
        ),
        plain("unknown coding", "Transfer-Encoding: xchunked\r\n", &chunked),
        plain("identity", "Transfer-Encoding: identity\r\n", &chunked),
        plain(
            "chunked twice",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            &chunked,
        ),
        plain(
            "a space before the colon",
            "Transfer-Encoding : chunked\r\n",
            &chunked,
        ),
        plain(
            "a tab in the coding",
            "Transfer-Encoding: chun\tked\r\n",
            &chunked,
        ),
        plain(
            "a folded header",
            "X-A: b\r\n Transfer-Encoding: chunked\r\n",
            &chunked,
        ),
        plain(
            "a line feed alone in a header",
            "X-A: b\nTransfer-Encoding: chunked\r\n",
            &chunked,
        ),
        plain(
            "a carriage return in a header",
            "X-A: b\rTransfer-Encoding: chunked\r\n",
            &chunked,
        ),
        plain("a null in a header", "X-A: b\0c\r\n", ""),
        plain("no colon", "Nonsense\r\n", ""),
        plain("an empty name", ": x\r\n", ""),
        plain(
            "a chunk size too long",
            "Transfer-Encoding: chunked\r\n",
            "ffffffffffffffffff\r\nx",
        ),
        plain(
            "a negative chunk",
            "Transfer-Encoding: chunked\r\n",
            "-1\r\nx\r\n0\r\n\r\n",
        ),
        plain(
            "a chunk longer than it says",
            "Transfer-Encoding: chunked\r\n",
            "1\r\nxyz\r\n0\r\n\r\n",
        ),
        plain(
            "a chunk without an end",
            "Transfer-Encoding: chunked\r\n",
            "3\r\nxyz0\r\n\r\n",
        ),
        (
            "an endless extension",
            "Transfer-Encoding: chunked\r\n".to_owned(),
            format!("1;{}\r\nx\r\n0\r\n\r\n", "a".repeat(100_000)),
        ),
        (
            "endless trailers",
            "Transfer-Encoding: chunked\r\n".to_owned(),
            format!("0\r\n{}\r\n", "X-T: y\r\n".repeat(20_000)),
        ),
        plain(
            "an upgrade",
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 0\r\n",
            "",
        ),
    ]
}

#[tokio::test]
async fn no_request_hides_in_another() {
    let house = House::start(&[]).await;
    let mut tried = 0;
    for path in ["/mcp/default", "/api/v1/agents", "/health"] {
        for (name, lines, body) in forms() {
            let request = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n{lines}\
                 Connection: close\r\n\r\n{body}",
                house.admin
            );
            let said = exchange(&house, request).await;
            assert!(!said.contains("hidden-request"), "{path} {name}: {said}");
            assert!(responses(&said) <= 1, "{path} {name}: {said}");
            assert!(!(200..300).contains(&status(&said)), "{path} {name}: {said}");
            tried += 1;
        }
    }
    println!("{tried} malformed requests");
    still_serves(&house).await;
}

#[tokio::test]
async fn lengths_that_contradict_close_the_connection() {
    let house = House::start(&[]).await;
    // Kept alive on purpose: whoever stands in front may think that the hidden part is another client's request.
    for (lines, want) in [
        // Read as chunked, which is what the standard says.
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 405),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 405),
        ("Content-Length: 5\r\nContent-Length: 6\r\n", 400),
    ] {
        let request = format!("POST /health HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n0\r\n\r\n{HIDDEN}");
        let said = exchange(&house, request).await;
        assert_eq!((status(&said), responses(&said)), (want, 1), "{lines}: {said}");
    }
}

#[tokio::test]
async fn floods_of_headers() {
    let house = House::start(&[]).await;
    let many = |count: usize| (0..count).map(|n| format!("X-{n}: a\r\n")).collect::<String>();
    for (what, lines) in [
        ("101 headers", many(101)),
        ("10,000 headers", many(10_000)),
        ("the same 10,000 times", "Cookie: a\r\n".repeat(10_000)),
        ("one of 100 KB", format!("X-A: {}\r\n", "a".repeat(100_000))),
        ("a name of 100 KB", format!("{}: a\r\n", "a".repeat(100_000))),
        ("1 MB without an end", "a".repeat(1 << 20)),
        (
            "a megabyte of key",
            format!("Authorization: Bearer {}\r\n", "a".repeat(1 << 20)),
        ),
    ] {
        let said = exchange(
            &house,
            format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{lines}Connection: close\r\n\r\n"),
        )
        .await;
        let got = status(&said);
        assert!(matches!(got, 0 | 400 | 431), "{what}: {said}");
    }
    let path = "a".repeat(100_000);
    let said = exchange(&house, format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n")).await;
    assert!(matches!(status(&said), 0 | 400 | 414 | 431), "{said}");
    still_serves(&house).await;
}

#[tokio::test]
async fn methods_nobody_serves() {
    let house = House::start(&[]).await;
    let secret = house.admin.clone();
    for method in [
        "TRACE", "TRACK", "CONNECT", "OPTIONS", "PROPFIND", "DEBUG", "PUT", "PATCH", "get", "G", "GET\tX",
    ] {
        for path in ["/mcp/default", "/mcp/-/operator", "/health", "/api/v1/audit"] {
            let said = exchange(
                &house,
                format!(
                    "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\nConnection: close\r\n\r\n"
                ),
            )
            .await;
            let got = status(&said);
            assert!(matches!(got, 400 | 404 | 405), "{method} {path}: {said}");
            assert!(!said.contains(&secret), "{method} {path} repeats the key");
        }
    }
    let said = exchange(
        &house,
        "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\nConnection: close\r\n\r\n",
    )
    .await;
    assert!(matches!(status(&said), 400 | 403 | 404 | 405), "{said}");
}
