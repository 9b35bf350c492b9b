//! A server below HTTP: fixed bytes for whoever connects.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// A listener that waits for the first bytes of each connection, writes fixed bytes, and closes or holds it. For
/// responses that no HTTP library would send. Dropping it closes the port.
#[derive(Debug)]
pub struct RawServer {
    url: String,
    connections: Arc<AtomicUsize>,
    stop: CancellationToken,
}

impl RawServer {
    /// Starts a server on a port the system chooses. With `hold`, connections stay open after the bytes.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub async fn start(bytes: impl Into<Bytes>, hold: bool) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let (bytes, connections, stop) = (
            bytes.into(),
            Arc::new(AtomicUsize::new(0)),
            CancellationToken::new(),
        );
        let (counter, stopped) = (Arc::clone(&connections), stop.clone());
        tokio::spawn(async move {
            while let Some(Ok((stream, _))) = stopped.run_until_cancelled(listener.accept()).await {
                counter.fetch_add(1, Ordering::Relaxed);
                let (bytes, stopped) = (bytes.clone(), stopped.clone());
                tokio::spawn(async move { stopped.run_until_cancelled(answer(stream, &bytes, hold)).await });
            }
        });
        Ok(Self {
            url,
            connections,
            stop,
        })
    }

    /// The endpoint, `http://127.0.0.1:<port>/mcp`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many connections were made so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn answer(mut stream: TcpStream, bytes: &[u8], hold: bool) -> std::io::Result<()> {
    let mut request = [0; 4096];
    if stream.read(&mut request).await? == 0 {
        return Ok(());
    }
    stream.write_all(bytes).await?;
    stream.flush().await?;
    if hold {
        // Ends when the client does.
        while stream.read(&mut request).await? > 0 {}
    }
    Ok(())
}
