//! Ends sessions that nobody uses, or that were opened with secrets since replaced; has lists read again whose time is over.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::{Line, Live};
use crate::connections::Inner;
use crate::{Connections, SessionKey};

impl Line {
    /// Takes out every client's session that was not used for so long, and places nothing is in.
    fn take_idle(&self, limit: Duration) -> Vec<Arc<Live>> {
        let mut idle = Vec::new();
        self.own.retain(|_, slot| match slot.any() {
            Some(live) if live.idle().is_some_and(|since| since >= limit) || live.upstream.is_closed() => {
                idle.extend(slot.take());
                false
            }
            Some(_) => true,
            None => !slot.is_vacant(),
        });
        idle
    }

    /// Takes out the client's session that was not used for the longest time.
    pub(super) fn longest_idle(&self) -> Option<Arc<Live>> {
        let idle = |key: &SessionKey, live: &Arc<Live>| live.idle().map(|since| (since, key.clone()));
        let longest = self
            .own
            .iter()
            .filter_map(|entry| entry.any().and_then(|live| idle(entry.key(), &live)))
            .max_by_key(|(since, _)| *since);
        let (_, key) = longest?;
        self.own.remove(&key).and_then(|(_, slot)| slot.take())
    }

    /// A client's session, if one is open.
    pub(crate) fn own_now(&self, key: &SessionKey) -> Option<Arc<Live>> {
        self.own.get(key)?.live(self.generation())
    }

    /// Takes out a client's session.
    pub(crate) fn take_own(&self, key: &SessionKey) -> Option<Arc<Live>> {
        self.own.remove(key).and_then(|(_, slot)| slot.take())
    }
}

/// Sweeps until everything is shut down.
pub(crate) async fn sweep(inner: Weak<Inner>, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    loop {
        ticks.tick().await;
        let Some(inner) = inner.upgrade() else { return };
        let lines: Vec<_> = inner.lines.iter().map(|line| line.clone()).collect();
        for line in lines {
            for idle in line.take_idle(inner.limits.idle) {
                inner.close_later(idle);
            }
            inner.take_up_secrets(&line).await;
            let now = Instant::now();
            // Both are asked: each says so once.
            let (lapsed, due) = (line.freshness.lapsed(now), line.check.due(now));
            if lapsed || due {
                let inner = inner.clone();
                Connections { inner }.schedule(line.tenant, line.id);
            }
        }
    }
}
