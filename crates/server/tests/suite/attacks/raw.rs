//! A client that sends bytes as they are.

use std::time::Duration;

use http::{Method, StatusCode};
use testkit::house::House;
use testkit::http::send;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection.
pub(crate) struct Raw {
    pub(crate) reader: OwnedReadHalf,
    pub(crate) writer: OwnedWriteHalf,
}

impl Raw {
    pub(crate) async fn connect(house: &House) -> Self {
        let address = house.url.strip_prefix("http://").unwrap();
        let (reader, writer) = TcpStream::connect(address).await.unwrap().into_split();
        Self { reader, writer }
    }
}

/// Everything the server says until it closes. A connection that is reset has ended too.
pub(crate) async fn rest(reader: &mut OwnedReadHalf) -> String {
    let mut all = Vec::new();
    let read = tokio::time::timeout(PATIENCE, reader.read_to_end(&mut all)).await;
    let said = String::from_utf8_lossy(&all).into_owned();
    assert!(read.is_ok(), "the connection stays open; so far: {said}");
    said
}

/// Sends bytes and returns all that is said until the server closes.
pub(crate) async fn exchange(house: &House, bytes: impl AsRef<[u8]>) -> String {
    let mut raw = Raw::connect(house).await;
    // The server may close before it has read everything.
    let written = raw.writer.write_all(bytes.as_ref()).await;
    let said = rest(&mut raw.reader).await;
    assert!(
        written.is_ok() || said.is_empty() || said.starts_with("HTTP/1.1 "),
        "{said}"
    );
    said
}

/// The status of the first response; zero if there is none.
pub(crate) fn status(said: &str) -> u16 {
    said.strip_prefix("HTTP/1.1 ")
        .or_else(|| said.strip_prefix("HTTP/1.0 "))
        .and_then(|rest| rest.split(' ').next()?.parse().ok())
        .unwrap_or_default()
}

/// How many responses there are.
pub(crate) fn responses(said: &str) -> usize {
    said.matches("HTTP/1.1 ").count()
}

/// Whoever behaves is still served.
pub(crate) async fn still_serves(house: &House) {
    let bearer = format!("Bearer {}", house.admin);
    let url = format!("{}/api/v1/agents", house.url);
    let answer = send(Method::GET, &url, &[("authorization", &bearer)], "")
        .await
        .unwrap();
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
}
