//! Ends of bodies nobody wants any more, read so that their connections can be used again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long the end of a body may take; then the connection is closed instead.
const PATIENCE: Duration = Duration::from_millis(250);
/// How much may come before the end, in bytes.
const MOST: usize = 16 * 1024;
/// How many bodies may be awaited at once.
const MOST_AT_ONCE: usize = 256;

/// The bodies of one client that are read to their end. Dropped with the client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leftovers(Arc<Mutex<JoinSet<()>>>);

impl Leftovers {
    /// Takes over a body. One whose end has already arrived costs no task.
    pub(crate) fn take(&self, mut body: Incoming) {
        let mut budget = MOST;
        while !body.is_end_stream() {
            match body.frame().now_or_never() {
                Some(Some(Ok(frame))) => {
                    let Some(rest) = left(budget, &frame) else { return };
                    budget = rest;
                }
                Some(_) => return,
                None => return self.wait_for(body, budget),
            }
        }
    }

    fn wait_for(&self, mut body: Incoming, mut budget: usize) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= MOST_AT_ONCE {
            return;
        }
        tasks.spawn(async move {
            let end = async {
                while let Some(Ok(frame)) = body.frame().await {
                    let Some(rest) = left(budget, &frame) else { return };
                    budget = rest;
                }
            };
            // Late or not, the body is dropped here, which closes a connection that has not ended.
            timeout(PATIENCE, end).await.ok();
        });
    }
}

/// What is left of a budget after a frame.
fn left(budget: usize, frame: &Frame<Bytes>) -> Option<usize> {
    budget.checked_sub(frame.data_ref().map_or(0, Bytes::len))
}
