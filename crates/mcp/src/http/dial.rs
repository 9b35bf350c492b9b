//! A TCP connection to the first of several addresses that accepts (after RFC 8305).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rustix::net::sockopt;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Head start of each address before the next one is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

/// How long a connection may be silent before the peer is asked whether it is still there.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Questions without an answer, at the same interval, until the connection counts as broken.
const KEEP_ALIVE_PROBES: u32 = 3;

/// Connects with `TCP_NODELAY` and TCP keep-alive, without which a stream to a vanished server waits for hours. Bounded by the caller.
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
                configure(&stream)?;
                return Ok(stream);
            }
            Some(Err(error)) => failure = error,
            None => {}
        }
    }
}

fn configure(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEP_ALIVE)?;
    sockopt::set_tcp_keepintvl(stream, KEEP_ALIVE)?;
    sockopt::set_tcp_keepcnt(stream, KEEP_ALIVE_PROBES)?;
    Ok(())
}
