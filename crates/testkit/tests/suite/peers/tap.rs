//! A pass-through to a server on this machine that keeps what clients send.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What clients send, in the order it arrives over all connections.
type Sent = Arc<Mutex<Vec<u8>>>;

/// A running tap; dropping it closes every connection.
pub(super) struct Tap {
    address: SocketAddr,
    sent: Sent,
    _tasks: JoinSet<()>,
}

impl Tap {
    /// Passes connections on to a port of 127.0.0.1.
    pub(super) async fn on(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let sent = Sent::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, port, Arc::clone(&sent)));
        Self {
            address,
            sent,
            _tasks: tasks,
        }
    }

    /// The URL of a path behind it.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The JSON-RPC methods sent so far, in order; and forgets them.
    pub(super) fn take_methods(&self) -> Vec<String> {
        let sent = std::mem::take(&mut *self.sent.lock().unwrap());
        let text = String::from_utf8_lossy(&sent);
        let after = text.split(r#""method":""#).skip(1);
        after
            .filter_map(|rest| rest.split_once('"').map(|(method, _)| method.to_owned()))
            .collect()
    }
}

async fn accept(listener: TcpListener, port: u16, sent: Sent) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else {
            continue;
        };
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let sent = Arc::clone(&sent);
        connections.spawn(pass(from_client, to_server, move |bytes| {
            sent.lock().unwrap().extend_from_slice(bytes);
        }));
        connections.spawn(pass(from_server, to_client, |_| {}));
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut keep: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        keep(&buffer[..count]);
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
    // The other side may have gone already.
    drop(to.shutdown().await);
}
