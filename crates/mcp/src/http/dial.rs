//! A TCP connection to the first of several addresses that accepts (after RFC 8305).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Head start of each address before the next one is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

/// Connects with `TCP_NODELAY`. Bounded by the caller.
pub(super) async fn dial(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter();
    let mut attempts = FuturesUnordered::new();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "no address to connect to");
    loop {
        match waiting.next() {
            Some(address) => attempts.push(TcpStream::connect(address)),
            None if attempts.is_empty() => return Err(failure),
            None => {}
        }
        let finished = if waiting.len() == 0 {
            attempts.next().await
        } else {
            timeout(STAGGER, attempts.next()).await.unwrap_or_default()
        };
        match finished {
            Some(Ok(stream)) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Some(Err(error)) => failure = error,
            None => {}
        }
    }
}
