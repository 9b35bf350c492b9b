//! How long what was listed stays true, as its server says (2026-07-28, "Caching").

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::pool::lock;

/// The freshness of one connection's lists.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    /// Until when they count as true; none where the server does not say.
    until: Mutex<Option<Instant>>,
    /// Whether a call was made since they were listed.
    used: AtomicBool,
}

impl Freshness {
    /// Lists were read, of which the server says that they stay true so long. A server that says less than `floor` is not believed.
    pub(super) fn listed(&self, ttl: Option<Duration>, floor: Duration, now: Instant) {
        self.used.store(false, Ordering::Relaxed);
        *lock(&self.until) = ttl.and_then(|ttl| now.checked_add(ttl.max(floor)));
    }

    /// A call goes by them.
    pub(crate) fn used(&self) {
        self.used.store(true, Ordering::Relaxed);
    }

    /// Whether they are to be read again: their time is over, and somebody used them. Says so once.
    pub(crate) fn lapsed(&self, now: Instant) -> bool {
        let mut until = lock(&self.until);
        let over = until.is_some_and(|until| until <= now) && self.used.load(Ordering::Relaxed);
        if over {
            *until = None;
        }
        over
    }
}
