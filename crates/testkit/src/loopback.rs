//! A listener on 127.0.0.1 that hands every HTTP request to a function until it is stopped.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

type BoxError = Box<dyn Error + Send + Sync>;

/// The client's end of a connection; every request carries it as an extension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// A running listener. Dropping it closes the port and every connection at once.
#[derive(Debug)]
pub(crate) struct Loopback {
    address: SocketAddr,
    stop: CancellationToken,
}

impl Loopback {
    /// Listens on `port` of 127.0.0.1, 0 for one the system chooses, and answers each connection's requests on a task
    /// of its own. Where `answer` fails, the connection is closed without a response.
    ///
    /// # Errors
    ///
    /// If the port cannot be had.
    pub(crate) async fn start<F, R, B, E>(port: u16, answer: F) -> std::io::Result<Self>
    where
        F: Fn(Request<Incoming>) -> R + Clone + Send + 'static,
        R: Future<Output = Result<Response<B>, E>> + Send + 'static,
        B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        tokio::spawn(async move {
            while let Some(accepted) = stopped.run_until_cancelled(listener.accept()).await {
                // A peer that is gone before it was accepted is no reason to stop.
                let Ok((stream, peer)) = accepted else { continue };
                let (stopped, answer) = (stopped.clone(), answer.clone());
                tokio::spawn(async move {
                    stopped
                        .run_until_cancelled(serve(stream, Peer(peer), answer))
                        .await
                });
            }
        });
        Ok(Self { address, stop })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn serve<F, R, B, E>(stream: TcpStream, peer: Peer, answer: F)
where
    F: Fn(Request<Incoming>) -> R + Send + 'static,
    R: Future<Output = Result<Response<B>, E>> + Send + 'static,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
    E: Into<BoxError> + 'static,
{
    // Without it every second small answer waits for the peer's delayed acknowledgement, about 40 ms.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let answer = move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        answer(request)
    };
    let builder = auto::Builder::new(TokioExecutor::new());
    // A connection that breaks is the peer's affair, often the very point of a test.
    drop(
        builder
            .serve_connection(TokioIo::new(stream), service_fn(answer))
            .await,
    );
}
