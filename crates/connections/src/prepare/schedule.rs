//! Preparing in the background: after a start, after failures, after news of the server's.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::{ConnectionId, Tenant};
use tokio::time::sleep;

use crate::connections::Inner;
use crate::pool::{Line, lock};
use crate::{ConnectionError, Connections};

impl Connections {
    /// Prepares a connection in the background, again and again with growing waits where trying again is of use. Progress is told
    /// through [`Connections::events`].
    pub fn schedule(&self, tenant: Tenant, id: ConnectionId) {
        let Ok(line) = self.inner.line(tenant, id) else {
            return;
        };
        if line.scheduled.swap(true, Ordering::AcqRel) {
            return;
        }
        let (inner, stop) = (self.inner.clone(), line.stop.clone());
        let task = async move {
            let persist = async {
                loop {
                    let prepared = inner.persist(&line).await;
                    line.scheduled.store(false, Ordering::Release);
                    // Settings that changed or a process that ended meanwhile were scheduled too, and that must not be lost.
                    if standing(&line) == prepared || line.scheduled.swap(true, Ordering::AcqRel) {
                        return;
                    }
                }
            };
            stop.run_until_cancelled(persist).await;
            line.scheduled.store(false, Ordering::Release);
        };
        self.inner.tasks.spawn_on(task, &self.inner.runtime);
    }
}

/// The generation of settings, and how often a process ended.
fn standing(line: &Line) -> (u64, u32) {
    (line.generation(), line.deaths.load(Ordering::Acquire))
}

impl Inner {
    /// Prepares until it succeeds or is of no use; says how things stood when that began.
    async fn persist(self: &Arc<Self>, line: &Arc<Line>) -> (u64, u32) {
        let mut failures = 0;
        loop {
            let began = standing(line);
            let preparing = match began {
                (_, 0) => self.preparing(line),
                // What is under way may have listed before the process ended.
                _ => self.preparing_anew(line),
            };
            let error = match preparing.await {
                Ok(_) => return began,
                Err(error) if !error.passes() => return began,
                Err(error) => error,
            };
            failures += 1;
            let rest = match error {
                ConnectionError::Resting { wait, .. } => wait,
                _ => Duration::ZERO,
            };
            sleep(rest.max(self.jittered(line, failures))).await;
        }
    }

    /// The wait after so many failures, spread so that connections that failed together do not come back together.
    fn jittered(&self, line: &Line, failures: u32) -> Duration {
        let share = f64::from(u32::try_from(self.seed(line) % 1_000).unwrap_or(0)) / 2_000.0;
        self.limits.wait_after(failures).mul_f64(1.0 - share)
    }

    /// What spreads waits: another number for each connection and each time.
    pub(super) fn seed(&self, line: &Line) -> u128 {
        line.id.uuid().as_u128() ^ u128::from(self.clock.now().micros().unsigned_abs())
    }

    /// A server says that its lists changed: they are read again soon, once for all news that comes until then.
    pub(crate) fn lists_changed(self: &Arc<Self>, line: &Arc<Line>) {
        let Some(wait) = lock(&line.pace).news(&self.limits) else {
            return;
        };
        let (inner, line) = (self.clone(), line.clone());
        let task = async move {
            let stop = line.stop.clone();
            let read = async {
                sleep(wait).await;
                lock(&line.pace).reading();
                // What is under way may have listed before the news.
                if let Err(error) = inner.preparing_anew(&line).await {
                    tracing::debug!(%error, connection = %line.id, "changed lists could not be read");
                }
            };
            stop.run_until_cancelled(read).await;
        };
        self.tasks.spawn_on(task, &self.runtime);
    }
}
