//! A database of its own for every test on a PostgreSQL server.

use std::future::Future;

use domain::Secret;
use store::Backend;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::house::Bench;

/// Runs a test on a database of its own on the server that the environment names, and drops it whatever comes of the test.
pub(crate) async fn run<F>(test: impl FnOnce(Bench) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(server) = server() else {
        println!("left out: SWITCHBOARD_TEST_POSTGRES names no server");
        return;
    };
    let name = format!("kernel_{}", domain::CallId::generate().uuid().simple());
    execute(&server, &format!("CREATE DATABASE {name}")).await;
    let mut url = server.clone();
    url.set_path(&name);
    let backend = Backend::Postgres {
        url: Secret::new(url.as_str()),
        max_connections: 8,
    };
    let outcome = tokio::spawn(test(Bench::of(backend, None))).await;
    execute(&server, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    if let Err(error) = outcome {
        std::panic::resume_unwind(error.into_panic());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the suite is told of a PostgreSQL server by its environment"
)]
fn server() -> Option<url::Url> {
    std::env::var("SWITCHBOARD_TEST_POSTGRES")
        .ok()
        .map(|text| text.parse().unwrap())
}

/// One statement, by the protocol's simple query (PostgreSQL documentation, chapter 55), as a user who needs no password on loopback.
async fn execute(server: &url::Url, sql: &str) {
    let address = (server.host_str().unwrap(), server.port().unwrap_or(5432));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut start = 196_608_i32.to_be_bytes().to_vec();
    for text in [
        "user",
        server.username(),
        "database",
        server.path().trim_start_matches('/'),
        "",
    ] {
        start.extend_from_slice(text.as_bytes());
        start.push(0);
    }
    stream.write_all(&framed(&start)).await.unwrap();
    until_ready(&mut stream).await;
    stream.write_all(b"Q").await.unwrap();
    stream
        .write_all(&framed(format!("{sql}\0").as_bytes()))
        .await
        .unwrap();
    until_ready(&mut stream).await;
}

fn framed(body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len() + 4).unwrap();
    [&length.to_be_bytes(), body].concat()
}

async fn until_ready(stream: &mut TcpStream) {
    loop {
        let kind = stream.read_u8().await.unwrap();
        let length = usize::try_from(stream.read_i32().await.unwrap()).unwrap();
        let mut body = vec![0; length - 4];
        stream.read_exact(&mut body).await.unwrap();
        match kind {
            b'Z' => return,
            b'E' => panic!("PostgreSQL refuses: {}", String::from_utf8_lossy(&body)),
            b'R' => assert_eq!(
                body, [0; 4],
                "the test server asks for a password; let it trust loopback"
            ),
            _ => {}
        }
    }
}
