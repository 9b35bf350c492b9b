//! Stopping in order: callers get their answers, what does not end in time is broken off, and the record has it all.

use std::pin::pin;
use std::time::Duration;

use anyhow::Context as _;
use server::Ending;
use tokio::time::{Instant, timeout, timeout_at};

use super::wire::Parts;

/// How long sessions and commands may take to end once calls are broken off.
const CLOSING: Duration = Duration::from_secs(5);
/// How long it may take to record calls that were broken off, and to answer whoever waits for them.
const ANSWERING: Duration = Duration::from_secs(2);

/// Serves until told to stop. Then waits for what is under way, at most for `drain`; breaks off what is left, which is an answer of
/// its own to whoever waits; and closes the store last, when every end is in it.
pub(super) async fn serve_and_stop(
    parts: Parts,
    serving: impl Future<Output = std::io::Result<()>>,
    (ending, drain): (Ending, Duration),
) -> anyhow::Result<()> {
    let mut serving = pin!(serving);
    let mut served = tokio::select! {
        served = serving.as_mut() => Some(served),
        () = ending.stop.cancelled() => None,
    };
    let deadline = Instant::now() + drain;
    if served.is_none() {
        served = timeout_at(deadline, serving.as_mut()).await.ok();
    }
    // Calls that outlive their callers.
    parts.gateway.drain(deadline.duration_since(Instant::now())).await;
    parts.connections.shutdown(CLOSING).await;
    parts.gateway.drain(ANSWERING).await;
    if served.is_none() {
        served = timeout(ANSWERING, serving.as_mut()).await.ok();
    }
    ending.cut.cancel();
    let served = match served {
        Some(served) => served,
        None => serving.await,
    };
    parts.store.close().await;
    served.context("serving failed")
}
