//! One open session and what we keep about it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp::version::Era;
use mcp::{Subscription, Upstream};
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::{Instant, timeout};

/// One open session.
pub(crate) struct Live {
    pub(crate) upstream: Upstream,
    /// Whether it belongs to one client.
    pub(crate) own: bool,
    generation: u64,
    /// Set before we close it, so that its end is not taken for a failure.
    pub(super) expected_end: Arc<AtomicBool>,
    busy: AtomicUsize,
    left: Notify,
    used: Mutex<Instant>,
    /// The log level a legacy server was last told.
    pub(crate) level: Mutex<Option<Arc<str>>>,
    /// What a modern server was asked to tell us of.
    pub(super) subscription: Mutex<Option<Subscription>>,
    /// Held while a modern server is asked: what was asked last counts, and it must not be overtaken.
    pub(super) asking: tokio::sync::Mutex<()>,
    /// One of the processes the connection may have, for as long as it lives.
    _process: Option<OwnedSemaphorePermit>,
}

/// What a session is made with.
pub(super) struct Opened {
    pub(super) upstream: Upstream,
    pub(super) own: bool,
    pub(super) generation: u64,
    pub(super) expected_end: Arc<AtomicBool>,
    pub(super) process: Option<OwnedSemaphorePermit>,
}

impl Live {
    pub(super) fn new(opened: Opened) -> Self {
        let Opened {
            upstream,
            own,
            generation,
            expected_end,
            process,
        } = opened;
        Self {
            upstream,
            own,
            generation,
            expected_end,
            busy: AtomicUsize::new(0),
            left: Notify::new(),
            used: Mutex::new(Instant::now()),
            level: Mutex::new(None),
            subscription: Mutex::new(None),
            asking: tokio::sync::Mutex::new(()),
            _process: process,
        }
    }

    /// Whether new calls may use it: one made with later settings than the caller read will do as well.
    pub(super) fn usable(&self, generation: u64) -> bool {
        self.generation >= generation && !self.upstream.is_closed()
    }

    pub(crate) fn era(&self) -> Era {
        self.upstream.negotiated().version.era()
    }

    pub(super) fn enter(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn leave(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.busy.fetch_sub(1, Ordering::AcqRel);
        self.left.notify_waiters();
    }

    /// How long nobody has used it; none while somebody does.
    pub(super) fn idle(&self) -> Option<Duration> {
        if self.busy.load(Ordering::Acquire) > 0 {
            return None;
        }
        Some(self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed())
    }

    /// Waits until no call uses it, at most so long.
    pub(crate) async fn quiet(&self, longest: Duration) {
        let quiet = async {
            loop {
                let left = self.left.notified();
                if self.busy.load(Ordering::Acquire) == 0 {
                    return;
                }
                left.await;
            }
        };
        // Whoever is still there after that has been waited for long enough.
        drop(timeout(longest, quiet).await);
    }

    /// Closes it and waits until nothing of it is left.
    pub(crate) async fn close(&self) {
        self.expected_end.store(true, Ordering::Release);
        drop(
            self.subscription
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        self.upstream.clone().close().await;
    }
}
