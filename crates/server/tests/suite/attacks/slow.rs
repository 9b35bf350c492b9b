//! Clients that take their time: each is cut off by a limit, whatever it has sent until then.

use std::time::Duration;

use testkit::house::{Bounds, House, Plan};
use tokio::io::AsyncWriteExt as _;

use super::raw::{Raw, responses, rest, status, still_serves};

async fn house() -> House {
    House::build(Plan {
        bounds: Bounds {
            head_within: Duration::from_millis(400),
            body_within: Duration::from_millis(400),
            ..Bounds::default()
        },
        ..Plan::default()
    })
    .await
}

/// Sends a beginning, then one byte again and again until the server has had enough. What it said.
async fn drip(house: &House, beginning: &str, byte: u8) -> String {
    let Raw {
        mut reader,
        mut writer,
    } = Raw::connect(house).await;
    writer.write_all(beginning.as_bytes()).await.unwrap();
    let dripping = tokio::spawn(async move {
        let mut every = tokio::time::interval(Duration::from_millis(20));
        while writer.write_all(&[byte]).await.is_ok() {
            every.tick().await;
        }
    });
    let said = rest(&mut reader).await;
    dripping.abort();
    said
}

#[tokio::test]
async fn heads() {
    let house = house().await;
    for beginning in [
        "",
        "P",
        "PRI * HTT",
        "PRI * HTTP/2.0\r\n\r\nSM",
        "GET /health HTTP/1.1\r\n",
        "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        "\r\n\r\n",
    ] {
        // Says nothing more.
        let mut raw = Raw::connect(&house).await;
        raw.writer.write_all(beginning.as_bytes()).await.unwrap();
        let said = rest(&mut raw.reader).await;
        assert!(matches!(status(&said), 0 | 400 | 408), "{beginning:?}: {said}");
    }
    for beginning in ["GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", "GET /"] {
        let said = drip(&house, beginning, b'a').await;
        assert!(matches!(status(&said), 0 | 408), "{beginning:?}: {said}");
    }
    still_serves(&house).await;
}

#[tokio::test]
async fn a_connection_that_says_no_more() {
    let house = house().await;
    let mut raw = Raw::connect(&house).await;
    raw.writer
        .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let said = rest(&mut raw.reader).await;
    assert_eq!((status(&said), responses(&said)), (200, 1), "{said}");
}

#[tokio::test]
async fn bodies() {
    let house = house().await;
    for path in ["/mcp/default", "/mcp/-/operator", "/api/v1/agents"] {
        for length in ["Content-Length: 100000", "Transfer-Encoding: chunked"] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\n{length}\r\n\r\n",
                house.admin
            );
            let dripped = drip(&house, &format!("{head}1\r\n"), b'0').await;
            let mut raw = Raw::connect(&house).await;
            raw.writer.write_all(head.as_bytes()).await.unwrap();
            let silent = rest(&mut raw.reader).await;
            for said in [&silent, &dripped] {
                // A chunk's size that never ends is wrong before it is late.
                assert!(matches!(status(said), 408 | 400), "{path} {length}: {said}");
                assert_eq!(responses(said), 1, "{path} {length}: {said}");
            }
            assert!(silent.contains("request.too_slow"), "{path} {length}: {silent}");
        }
        // Without a key nobody waits for a body.
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
        let mut raw = Raw::connect(&house).await;
        raw.writer.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(status(&rest(&mut raw.reader).await), 401, "{path}");
    }
    still_serves(&house).await;
}
