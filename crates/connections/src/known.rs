//! What is known of a connection's state and health: what was found out last holds, in memory and in the store.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use domain::{ConnectionState, Health};
use store::StateReport;

use crate::connections::Inner;
use crate::pool::{Line, lock, shorten};
use crate::{ConnectionEventKind, Connections};

/// What was noted last about a connection, and how it is written down in order.
#[derive(Debug, Default)]
pub(crate) struct Known {
    last: Mutex<Option<(ConnectionState, Health)>>,
    /// Counts refusals and failures that calls met.
    worse: AtomicU64,
    /// One report is written at a time.
    writing: tokio::sync::Mutex<()>,
}

impl Known {
    /// Begins with what is stored, unless something is known already.
    pub(crate) fn begin(&self, state: ConnectionState, health: Health) {
        lock(&self.last).get_or_insert((state, health));
    }

    pub(crate) fn last(&self) -> Option<(ConnectionState, Health)> {
        *lock(&self.last)
    }

    /// How often calls met something worse so far: for [`Inner::note_unless_worse`].
    pub(crate) fn worse(&self) -> u64 {
        self.worse.load(Ordering::Acquire)
    }

    /// Whether it is another one than before.
    fn replace(&self, state: ConnectionState, health: Health) -> bool {
        lock(&self.last).replace((state, health)) != Some((state, health))
    }

    /// What a call found out, where it is news: the state it is known to be in.
    fn observe(&self, health: Health) -> Option<ConnectionState> {
        let mut last = lock(&self.last);
        let (state, before) = (*last)?;
        // A call that went well does not make up for a catalogue that is not whole.
        let same = before == health
            || (health == Health::Ok && matches!(before, Health::Degraded | Health::Unchecked));
        if health != Health::Ok {
            self.worse.fetch_add(1, Ordering::AcqRel);
        }
        if same || state == ConnectionState::Pending {
            return None;
        }
        *last = Some((state, health));
        Some(state)
    }
}

impl Inner {
    /// Notes what a call found out about a server, where it is news.
    pub(crate) fn observed(self: &Arc<Self>, line: &Arc<Line>, health: Health, detail: &str) {
        let Some(state) = line.known.observe(health) else {
            return;
        };
        let detail = (health != Health::Ok).then(|| shorten(detail));
        let report = self.report(state, health, detail);
        let (inner, line) = (self.clone(), line.clone());
        self.tasks.spawn_on(
            async move { inner.write_down(&line, report, true).await },
            &self.runtime,
        );
    }

    /// The process all calls share ended: that shows, and it is started again before a call asks for it.
    pub(crate) fn died(self: &Arc<Self>, line: &Arc<Line>, reason: &str) {
        let known = line.known.last();
        let detail = shorten(&format!("the command ended and is started again: {reason}"));
        let (inner, of) = (self.clone(), line.clone());
        let task = async move {
            if let Some((state @ (ConnectionState::Ready | ConnectionState::Error), _)) = known {
                inner.note(&of, state, Health::ProcessFailed, Some(detail)).await;
            }
            Connections { inner }.schedule(of.tenant, of.id);
        };
        self.tasks.spawn_on(task, &self.runtime);
    }

    /// A command ended too often: the connection counts as failed, and is prepared again after a while.
    pub(crate) fn failed(self: &Arc<Self>, line: &Arc<Line>, times: u32, reason: &str) {
        let detail = shorten(&format!(
            "the command ended {times} times in a row soon after it was started: {reason}"
        ));
        let (inner, of) = (self.clone(), line.clone());
        let task = async move {
            inner
                .note(&of, ConnectionState::Error, Health::ProcessFailed, Some(detail))
                .await;
            Connections { inner }.schedule(of.tenant, of.id);
        };
        self.tasks.spawn_on(task, &self.runtime);
    }

    /// Stores state and health, and tells of them where they are news.
    pub(crate) async fn note(
        &self,
        line: &Line,
        state: ConnectionState,
        health: Health,
        detail: Option<String>,
    ) {
        let news = line.known.replace(state, health);
        self.write_down(line, self.report(state, health, detail), news)
            .await;
    }

    /// The same for what was listed when calls had met something worse so often: what they met since is later.
    pub(crate) async fn note_unless_worse(
        &self,
        line: &Line,
        worse: u64,
        (health, detail): (Health, Option<String>),
    ) {
        let ready = ConnectionState::Ready;
        let overtaken =
            line.known.worse() != worse && line.known.last().is_some_and(|(state, _)| state == ready);
        if !overtaken {
            self.note(line, ready, health, detail).await;
        }
    }

    fn report(&self, state: ConnectionState, health: Health, detail: Option<String>) -> StateReport {
        StateReport {
            state,
            health,
            detail,
            checked_at: self.clock.now(),
        }
    }

    /// Writes a report down in its turn, unless something else is known by then, which is written down after it.
    async fn write_down(&self, line: &Line, report: StateReport, news: bool) {
        let (state, health) = (report.state, report.health);
        let turn = line.known.writing.lock().await;
        if line.known.last() == Some((state, health)) {
            let stored = self.store.set_connection_state(line.tenant, line.id, report);
            if let Err(error) = stored.await {
                tracing::warn!(%error, connection = %line.id, "the state of a connection could not be stored");
            }
        }
        drop(turn);
        if news {
            self.tell(line, ConnectionEventKind::StateChanged { state, health });
        }
    }
}
