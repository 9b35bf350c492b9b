//! A relay before a server that can go away and come back.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The relay, which anybody can reach on loopback. Ends with the runtime of its test.
pub(crate) struct Relay {
    address: SocketAddr,
    there: watch::Sender<bool>,
}

impl Relay {
    /// Relays to the server of this URL; the URL by which it is reached then.
    pub(crate) async fn before(url: &str) -> (Self, String) {
        let rest = url.split_once('@').unwrap().1;
        let there = rest.split_once('/').unwrap().0;
        let relay = Self::start(there.parse().unwrap()).await;
        let reached = url.replacen(there, &relay.address.to_string(), 1);
        (relay, reached)
    }

    async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let there = watch::Sender::new(true);
        let watched = there.subscribe();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if *watched.borrow() {
                    tokio::spawn(relay(stream, to, watched.clone()));
                }
            }
        });
        Self { address, there }
    }

    /// Breaks off every connection and takes no more.
    pub(crate) fn go(&self) {
        self.there.send_replace(false);
    }

    /// Takes connections again.
    pub(crate) fn come_back(&self) {
        self.there.send_replace(true);
    }
}

async fn relay(near: TcpStream, to: SocketAddr, there: watch::Receiver<bool>) {
    let Ok(far) = TcpStream::connect(to).await else {
        return;
    };
    let (near, far) = (near.into_split(), far.into_split());
    tokio::join!(pass(near.0, far.1, there.clone()), pass(far.0, near.1, there));
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut there: watch::Receiver<bool>) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            _ = there.wait_for(|there| !there) => return,
        };
        match read {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                if to.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}
