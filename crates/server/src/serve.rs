//! Listens, with bounds on what a client may cost before it has said anything.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::pace::Paced;
use crate::{App, front, mcp};

/// Largest head of a request, in bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// Most headers of a request.
const HEADERS: usize = 100;
/// Most connections at once; more wait in the listener's queue.
const CONNECTIONS: usize = 10_000;

/// How serving ends.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// Nothing new is taken, and what is under way ends by itself.
    pub stop: CancellationToken,
    /// What still is under way then is broken off.
    pub cut: CancellationToken,
}

/// Serves until told to stop, then until everything under way has ended or is cut off.
///
/// # Errors
/// When the listener fails for good.
pub async fn serve(listener: TcpListener, app: App, ending: Ending) -> std::io::Result<()> {
    let stop = ending.stop.clone();
    let connections = TaskTracker::new();
    let watch = mcp::end_orphans(app.state.clone());
    let watching = tokio::spawn(stop.clone().run_until_cancelled_owned(watch));
    let places = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            break;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (app, ending) = (app.clone(), ending.clone());
                connections.spawn(async move {
                    let Ending { stop, cut } = ending;
                    let cut_off = cut.run_until_cancelled(connection(stream, peer, app, stop)).await;
                    if cut_off.is_none() {
                        tracing::warn!(%peer, "a connection was still open at the end and was broken off");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                // Out of descriptors, most likely: give connections time to end instead of spinning.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    // Standing streams would keep their connections open for good.
    app.state.sessions.close();
    watching.abort();
    connections.close();
    connections.wait().await;
    Ok(())
}

async fn connection(stream: TcpStream, peer: SocketAddr, app: App, stop: CancellationToken) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let body_within = app.body_within;
    let head_within = app.head_within;
    let heard = Arc::new(AtomicBool::new(false));
    let hears = heard.clone();
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        hears.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(ConnectInfo(peer));
        let request = Paced::request(request, body_within);
        let app = app.clone();
        async move { Ok::<_, Infallible>(front::respond(app, request).await) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(head_within)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(HEAD_BYTES).unwrap_or(u32::MAX))
        .max_concurrent_streams(100)
        .keep_alive_interval(Duration::from_secs(30));
    let serving = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(serving);
    // Which version of HTTP is spoken is found out without a timer, so the first request has one of ours.
    let first = tokio::time::sleep(head_within);
    tokio::pin!(first);
    let (mut waits, mut stops) = (true, false);
    let ended = loop {
        tokio::select! {
            ended = serving.as_mut() => break ended,
            () = first.as_mut(), if waits => {
                if !heard.load(Ordering::Relaxed) {
                    return;
                }
                waits = false;
            }
            () = stop.cancelled(), if !stops => {
                serving.as_mut().graceful_shutdown();
                stops = true;
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
