//! Everything in memory about one connection.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use dashmap::DashMap;
use domain::{ConnectionId, Digest, Tenant};
use mcp::param_headers::ParamHeaders;
use mcp::{LineSource, LogLine, Negotiated};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::rest::Rest;
use super::settings::Hidden;
use super::slot::Slot;
use super::{Live, Settings};
use crate::connections::Inner;
use crate::known::Known;
use crate::prepare::{Check, Freshness, Pace, Preparations};
use crate::{ConnectionError, Limits, SessionKey};

/// Lines kept of what servers write.
const LINES: usize = 200;

/// One connection in memory.
pub(crate) struct Line {
    pub(crate) tenant: Tenant,
    pub(crate) id: ConnectionId,
    /// Counts changes of the settings: sessions of an earlier generation take no new calls.
    pub(super) generation: AtomicU64,
    settings: ArcSwapOption<Settings>,
    pub(super) negotiated: Mutex<Option<Negotiated>>,
    pub(crate) calls: Arc<Semaphore>,
    pub(super) processes: Arc<Semaphore>,
    pub(super) shared: Slot,
    pub(super) own: DashMap<SessionKey, Arc<Slot>>,
    pub(super) rest: Mutex<Rest>,
    restarts: AtomicU32,
    /// How often a process ended by itself.
    pub(crate) deaths: AtomicU32,
    unheard: AtomicU64,
    log: Mutex<VecDeque<ServerLine>>,
    pub(crate) known: Known,
    pub(crate) preparing: Mutex<Preparations>,
    pub(crate) freshness: Freshness,
    pub(crate) check: Check,
    pub(crate) pace: Mutex<Pace>,
    pub(crate) scheduled: AtomicBool,
    pub(crate) plans: DashMap<Digest, Option<Arc<ParamHeaders>>>,
    /// Who wants to hear of which resource, in shared sessions.
    pub(super) wanted: Mutex<BTreeMap<Arc<str>, HashSet<SessionKey>>>,
    /// Cancelled when the connection is removed or everything shut down.
    pub(crate) stop: CancellationToken,
}

/// What is going on at a connection, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveFacts {
    /// Open sessions.
    pub sessions: usize,
    /// Of these, processes.
    pub processes: usize,
    /// Calls under way.
    pub in_flight: usize,
    /// How often a session that ended was opened again since the process started.
    pub restarts: u32,
    /// Log messages and the like that a server sent outside of any call and that had nobody to go to.
    pub unheard: u64,
    /// What the server wrote lately to stderr, or to stdout outside the protocol, oldest first. Untrusted text.
    pub lines: Vec<ServerLine>,
}

/// A line a server wrote outside the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLine {
    /// Where it came from.
    pub source: ServerLineSource,
    /// The text, at most 4 KiB.
    pub text: String,
}

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerLineSource {
    /// Standard error.
    Stderr,
    /// Standard output, where it was not JSON-RPC.
    Stdout,
    /// Our own note on something the protocol does not allow.
    Note,
}

impl Line {
    pub(crate) fn new(tenant: Tenant, id: ConnectionId, limits: &Limits, stop: CancellationToken) -> Self {
        Self {
            tenant,
            id,
            generation: AtomicU64::new(1),
            settings: ArcSwapOption::empty(),
            negotiated: Mutex::new(None),
            calls: Arc::new(Semaphore::new(limits.calls)),
            processes: Arc::new(Semaphore::new(limits.processes)),
            shared: Slot::default(),
            own: DashMap::new(),
            rest: Mutex::default(),
            restarts: AtomicU32::new(0),
            deaths: AtomicU32::new(0),
            unheard: AtomicU64::new(0),
            log: Mutex::default(),
            known: Known::default(),
            preparing: Mutex::default(),
            freshness: Freshness::default(),
            check: Check::default(),
            pace: Mutex::default(),
            scheduled: AtomicBool::new(false),
            plans: DashMap::new(),
            wanted: Mutex::default(),
            stop,
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The settings, read once.
    pub(crate) async fn settings(&self, inner: &Arc<Inner>) -> Result<Arc<Settings>, ConnectionError> {
        if let Some(settings) = self.settings.load_full() {
            return Ok(settings);
        }
        let settings = Arc::new(Settings::load(inner, self).await?);
        let remembered = settings
            .connection
            .negotiated
            .as_deref()
            .and_then(crate::negotiated::read);
        *lock(&self.negotiated) = remembered;
        self.known
            .begin(settings.connection.state, settings.connection.health);
        // Changed meanwhile: good for this once, not to be kept.
        if settings.generation == self.generation() {
            self.settings.store(Some(settings.clone()));
        }
        Ok(settings)
    }

    /// The settings, if they were read.
    pub(crate) fn settings_now(&self) -> Option<Arc<Settings>> {
        self.settings.load_full()
    }

    /// Forgets the settings of this generation, if it is still the present one. The sessions to close; what is being opened goes on,
    /// and looks at its settings again.
    pub(super) fn outgrow(&self, generation: u64) -> Vec<Arc<Live>> {
        let next = generation.wrapping_add(1);
        let outgrown =
            self.generation
                .compare_exchange(generation, next, Ordering::AcqRel, Ordering::Acquire);
        if outgrown.is_err() {
            return Vec::new();
        }
        self.settings.store(None);
        lock(&self.rest).forget();
        let mut taken: Vec<_> = self.shared.take_open().into_iter().collect();
        taken.extend(self.own.iter().filter_map(|slot| slot.take_open()));
        taken
    }

    /// Forgets the settings; sessions made with them take no new calls. The sessions to close.
    pub(crate) fn renew(&self) -> Vec<Arc<Live>> {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.settings.store(None);
        lock(&self.rest).forget();
        self.plans.clear();
        self.take_all()
    }

    /// Forgets that the command rests.
    pub(crate) fn wake(&self) {
        lock(&self.rest).forget();
    }

    /// The session all share, if one is open.
    pub(crate) fn shared_now(&self) -> Option<Arc<Live>> {
        self.shared.live(self.generation())
    }

    /// Empties every place.
    pub(crate) fn take_all(&self) -> Vec<Arc<Live>> {
        let mut taken: Vec<_> = self.shared.take().into_iter().collect();
        self.own.retain(|_, slot| {
            taken.extend(slot.take());
            false
        });
        taken
    }

    pub(super) fn restarted(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn unheard(&self) {
        self.unheard.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn wrote(&self, line: &LogLine, hidden: &Hidden) {
        let source = match line.source {
            LineSource::Stderr => ServerLineSource::Stderr,
            LineSource::Stdout => ServerLineSource::Stdout,
            LineSource::Protocol => ServerLineSource::Note,
        };
        // On one line, whatever terminal shows it.
        let text = hidden.take_from(&line.text).replace(char::is_control, " ");
        let mut log = lock(&self.log);
        if log.len() == LINES {
            log.pop_front();
        }
        log.push_back(ServerLine { source, text });
    }

    /// What is going on.
    pub(crate) fn facts(&self, limits: &Limits) -> LiveFacts {
        let mut open: Vec<_> = self.shared.any().into_iter().collect();
        open.extend(self.own.iter().filter_map(|slot| slot.any()));
        open.retain(|live| !live.upstream.is_closed());
        LiveFacts {
            sessions: open.len(),
            processes: limits
                .processes
                .saturating_sub(self.processes.available_permits()),
            in_flight: limits.calls.saturating_sub(self.calls.available_permits()),
            restarts: self.restarts.load(Ordering::Relaxed),
            unheard: self.unheard.load(Ordering::Relaxed),
            lines: lock(&self.log).iter().cloned().collect(),
        }
    }
}

/// Takes a lock that is held for moments only; what a panic left behind is still sound here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
