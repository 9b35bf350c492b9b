//! The request body, which remembers whether a connection has begun to write the request.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// A complete body. A connection asks it for its size before it encodes the head, and never earlier; from then on the
/// request counts as sent.
#[derive(Debug)]
pub(super) struct Outgoing {
    data: Option<Bytes>,
    begun: Begun,
}

/// The other end of [`Outgoing`].
#[derive(Debug, Clone, Default)]
pub(super) struct Begun(Arc<AtomicBool>);

impl Begun {
    /// Whether anything may have been written.
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Outgoing {
    pub(super) fn new(data: Bytes, begun: Begun) -> Self {
        Self {
            data: (!data.is_empty()).then_some(data),
            begun,
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.begun.set();
        Poll::Ready(self.data.take().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.begun.set();
        self.data.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.begun.set();
        SizeHint::with_exact(self.data.as_ref().map_or(0, |data| data.len() as u64))
    }
}
