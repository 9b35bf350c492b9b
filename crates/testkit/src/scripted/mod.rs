//! An upstream whose every answer a test writes, down to the byte, and which remembers what it was asked.
//!
//! [`Scripted::start`] takes what answers each request: `Reply::status(503).header("retry-after", "2")` for some, `Reply::legacy(request)`
//! for the rest. A client is let loose on `url()`; `received_of("tools/call")` then tells what came.

mod raw;
mod received;
mod reply;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use http::Request;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::watch;

pub use raw::RawServer;
pub use received::Received;
pub use reply::{Feed, Reply, Step};

use crate::loopback::{Loopback, Peer};
use crate::scripted::reply::{Playing, play};

/// A scripted upstream. Dropping it closes its port and every connection.
#[derive(Debug)]
pub struct Scripted {
    url: String,
    log: Arc<Log>,
    _loopback: Loopback,
}

impl Scripted {
    /// Starts an upstream on a port the system chooses. `script` is asked once for every request.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub async fn start(script: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> std::io::Result<Self> {
        let log = Arc::new(Log::default());
        let script = Arc::new(script);
        let loopback = {
            let log = Arc::clone(&log);
            Loopback::start(0, move |request| {
                let (log, script) = (Arc::clone(&log), Arc::clone(&script));
                async move {
                    let received = receive(request).await;
                    let reply = script(&received);
                    log.push(received);
                    play(reply, Playing::begin(log)).await
                }
            })
            .await?
        };
        let url = format!("http://{}/mcp", loopback.address());
        Ok(Self {
            url,
            log,
            _loopback: loopback,
        })
    }

    /// Starts an upstream that gives these replies one after the other, and 500 once they are used up.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub async fn in_order(replies: impl IntoIterator<Item = Reply>) -> std::io::Result<Self> {
        let replies = Mutex::new(replies.into_iter().collect::<std::collections::VecDeque<_>>());
        Self::start(move |_| {
            let mut replies = replies.lock().unwrap_or_else(PoisonError::into_inner);
            replies.pop_front().unwrap_or_else(|| Reply::status(500))
        })
        .await
    }

    /// The MCP endpoint, `http://127.0.0.1:<port>/mcp`. Every other path reaches the script as well.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Every request so far, in order of arrival.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.log
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Every request so far whose body is a JSON-RPC message of this method.
    #[must_use]
    pub fn received_of(&self, method: &str) -> Vec<Received> {
        let mut received = self.received();
        received.retain(|request| request.rpc_method().as_deref() == Some(method));
        received
    }

    /// How many connections requests have come on so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        let mut peers: Vec<SocketAddr> = self.received().iter().map(|request| request.peer).collect();
        peers.sort_unstable();
        peers.dedup();
        peers.len()
    }

    /// How many exchanges the client gave up before they were over.
    #[must_use]
    pub fn abandoned(&self) -> usize {
        self.log.counts.borrow().abandoned
    }

    /// Waits until at least `count` requests have come.
    pub async fn wait_for_received(&self, count: usize) -> Vec<Received> {
        self.log.wait(|counts| counts.received >= count).await;
        self.received()
    }

    /// Waits until the client has given up at least `count` exchanges.
    pub async fn wait_for_abandoned(&self, count: usize) {
        self.log.wait(|counts| counts.abandoned >= count).await;
    }
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    requests: Mutex<Vec<Received>>,
    counts: watch::Sender<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    received: usize,
    abandoned: usize,
}

impl Log {
    fn push(&self, received: Received) {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(received);
        self.counts.send_modify(|counts| counts.received += 1);
    }

    fn abandon(&self) {
        self.counts.send_modify(|counts| counts.abandoned += 1);
    }

    async fn wait(&self, reached: impl FnMut(&Counts) -> bool) {
        // The sender lives as long as `self`.
        drop(self.counts.subscribe().wait_for(reached).await);
    }
}

async fn receive(request: Request<Incoming>) -> Received {
    let (head, body) = request.into_parts();
    let peer = head
        .extensions
        .get::<Peer>()
        .map_or(SocketAddr::from(([0, 0, 0, 0], 0)), |Peer(peer)| *peer);
    // A body that breaks off is what came of it.
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    Received {
        method: head.method,
        uri: head.uri,
        headers: head.headers,
        body,
        peer,
    }
}

#[cfg(test)]
mod tests;
