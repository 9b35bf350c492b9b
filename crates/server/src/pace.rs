//! How long a client may take to send a request's body.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::HttpBody;
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep};

/// The body did not arrive in time.
#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive in time")]
struct TooSlow;

/// Whether the body of a request did not arrive in time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Late(Arc<AtomicBool>);

impl Late {
    pub(crate) fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A body that ends with an error when it takes longer than allowed, counted from when it was first waited for. How much has arrived
/// does not matter: a client that drips is as late as one that says nothing.
pub(crate) struct Paced {
    body: Incoming,
    within: Duration,
    /// Most bodies are there before anybody waits for them, and cost no timer.
    ends: Option<Pin<Box<Sleep>>>,
    late: Late,
}

impl Paced {
    /// The request with such a body, and with a [`Late`] among its extensions if it has a body at all.
    pub(crate) fn request(request: hyper::Request<Incoming>, within: Duration) -> hyper::Request<Self> {
        let (mut head, body) = request.into_parts();
        let late = Late::default();
        if !body.is_end_stream() {
            head.extensions.insert(late.clone());
        }
        let paced = Self {
            body,
            within,
            ends: None,
            late,
        };
        hyper::Request::from_parts(head, paced)
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let within = self.within;
        let ends = self.ends.get_or_insert_with(|| Box::pin(sleep(within)));
        if ends.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.late.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(TooSlow.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
