//! One preparation of a connection at a time, and at most one that begins after it.

use std::sync::Arc;

use futures::FutureExt;
use tokio::sync::oneshot;

use super::Preparing;
use crate::ConnectionError;
use crate::connections::Inner;
use crate::pool::{Line, lock};

/// The preparations of one connection.
#[derive(Default)]
pub(crate) struct Preparations {
    /// The one begun last, and with which generation of settings.
    now: Option<(u64, Preparing)>,
    /// The one that begins when that is over.
    next: Option<Preparing>,
}

impl Preparations {
    fn under_way(&self) -> Option<(u64, Preparing)> {
        // It may have come to its end without anybody waiting for it.
        self.now
            .clone()
            .filter(|(_, running)| running.clone().now_or_never().is_none())
    }

    /// The next one begins.
    fn begin(&mut self, generation: u64) {
        if let Some(next) = self.next.take() {
            self.now = Some((generation, next));
        }
    }
}

impl Inner {
    /// A preparation with the present settings: the one under way, or a new one. It runs in a task of its own.
    pub(super) fn preparing(self: &Arc<Self>, line: &Arc<Line>) -> Preparing {
        let mut all = lock(&line.preparing);
        match all.under_way() {
            Some((generation, running)) if generation == line.generation() => running,
            // Begun with settings that are not these any more: it comes to its end first.
            Some(_) | None => self.behind(line, &mut all),
        }
    }

    /// A preparation that begins to list after now. What is under way may have listed before whatever the caller knows of; whoever
    /// asks until the next one begins shares that one.
    pub(super) fn preparing_anew(self: &Arc<Self>, line: &Arc<Line>) -> Preparing {
        self.behind(line, &mut lock(&line.preparing))
    }

    fn behind(self: &Arc<Self>, line: &Arc<Line>, all: &mut Preparations) -> Preparing {
        if let Some(next) = &all.next {
            return next.clone();
        }
        let (done, ready) = oneshot::channel();
        let preparing = async move { ready.await.unwrap_or(Err(ConnectionError::Stopped)) }
            .boxed()
            .shared();
        let before = all.under_way();
        match before {
            None => all.now = Some((line.generation(), preparing.clone())),
            Some(_) => all.next = Some(preparing.clone()),
        }
        let (inner, of) = (self.clone(), line.clone());
        let task = async move {
            let prepare = async {
                if let Some((_, before)) = before {
                    drop(before.await);
                    lock(&of.preparing).begin(of.generation());
                }
                inner.prepare(&of).await
            };
            let outcome = tokio::select! {
                outcome = prepare => outcome,
                () = of.stop.cancelled() => Err(ConnectionError::Stopped),
            };
            // Nobody may be waiting any more.
            drop(done.send(outcome));
        };
        self.tasks.spawn_on(task, &self.runtime);
        preparing
    }
}
