//! A legacy client's session: what was agreed, what is under way, what it wants to hear.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::{AgentId, ApprovalId, ClientContext, PeerError, PeerResponder, Principal};
use gateway::Gateway;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::client::Can;
use super::ears::Wish;
use super::log::Log;
use super::place::Place;
use super::version::Legacy;
use super::wire::push_text;

/// Messages that wait for the reader of a standing stream.
const SAID: usize = 64;
/// Requests of upstreams a client may have open.
const ASKED: usize = 64;
/// Streams kept for a client that lost its connection.
const STREAMS: usize = 16;
/// Bytes of such streams.
const STREAM_BYTES: usize = 4 << 20;
/// How long a stream that nobody reads is kept.
const STREAM_TTL: Duration = Duration::from_secs(300);
/// Resources a session may be subscribed to.
pub(super) const SUBSCRIPTIONS: usize = 256;
/// Questions to people whose answers are announced.
const AWAITED: usize = 64;

/// What lists looked like when they were last seen: tools, prompts, resources.
pub(super) type Marks = [u64; 3];

/// A session.
pub(super) struct Session {
    pub(super) id: Arc<str>,
    pub(super) owner: Principal,
    pub(super) place: Place,
    /// The agent acting or acted for; none for operators.
    pub(super) agent: Option<AgentId>,
    pub(super) version: Legacy,
    pub(super) can: Can,
    /// What `initialize` said about the client.
    pub(super) context: ClientContext,
    /// Ends everything that belongs to it.
    pub(super) ended: CancellationToken,
    /// Ends its standing stream alone: the server stops, and calls under way may still end.
    closing: CancellationToken,
    /// Whether its agent was ever seen enabled.
    enabled: AtomicBool,
    started: Instant,
    /// Milliseconds after `started` of the last sign of life.
    seen: AtomicU64,
    /// Requests and streams under way: a session with any is not idle.
    busy: AtomicUsize,
    numbers: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    level: Option<Arc<str>>,
    /// Requests of upstreams the client has not answered, by the number in their id.
    asked: HashMap<u64, PeerResponder>,
    /// Requests of the client under way, by the text of their id.
    running: HashMap<Box<str>, (u64, CancellationToken)>,
    subscribed: HashSet<Arc<str>>,
    awaited: VecDeque<ApprovalId>,
    streams: VecDeque<Kept>,
    standing: Option<Stand>,
    marks: Option<Marks>,
}

/// A standing stream, as those see it who have something to say on it.
struct Stand {
    ended: CancellationToken,
    said: mpsc::Sender<String>,
}

struct Kept {
    stream: u64,
    log: Arc<Log>,
    since: Instant,
}

/// What a new session is made of.
pub(super) struct Opening {
    pub(super) id: Arc<str>,
    pub(super) owner: Principal,
    pub(super) place: Place,
    pub(super) agent: Option<AgentId>,
    pub(super) version: Legacy,
    pub(super) can: Can,
    pub(super) context: ClientContext,
}

impl Session {
    pub(super) fn new(opening: Opening, closing: CancellationToken) -> Self {
        let Opening {
            id,
            owner,
            place,
            agent,
            version,
            can,
            context,
        } = opening;
        Self {
            id,
            owner,
            place,
            agent,
            version,
            can,
            context,
            ended: CancellationToken::new(),
            closing,
            enabled: AtomicBool::new(false),
            started: Instant::now(),
            seen: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
            numbers: AtomicU64::new(1),
            state: Mutex::default(),
        }
    }

    /// Whether the agent it acts as was removed, or disabled since it was seen enabled. A session that began while the agent was
    /// disabled shows nothing and may go on to when it is enabled.
    pub(super) fn lost_agent(&self, gateway: &Gateway) -> bool {
        let Some(agent) = self.agent else {
            return false;
        };
        let Ok(workspace) = gateway.workspace(self.owner.tenant) else {
            return true;
        };
        match workspace.agent(agent) {
            None => true,
            Some(agent) if agent.enabled => {
                self.enabled.store(true, Ordering::Relaxed);
                false
            }
            Some(_) => self.enabled.load(Ordering::Relaxed),
        }
    }

    /// Notes a sign of life.
    pub(super) fn touch(&self) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.seen.store(now, Ordering::Relaxed);
    }

    /// How long nothing was heard of it; zero while anything is under way.
    pub(super) fn idle(&self) -> Duration {
        if self.busy.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        self.started
            .elapsed()
            .saturating_sub(Duration::from_millis(self.seen.load(Ordering::Relaxed)))
    }

    /// Keeps it from being idle while the token lives.
    pub(super) fn occupy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(self.clone())
    }

    pub(super) fn level(&self) -> Option<Arc<str>> {
        self.lock().level.clone()
    }

    pub(super) fn set_level(&self, level: &str) {
        self.lock().level = Some(level.into());
    }

    /// Notes a request under way, so that it can be cancelled by its id.
    pub(super) fn run(self: &Arc<Self>, id: &RawValue) -> Running {
        let token = self.ended.child_token();
        let number = self.next_number();
        self.lock()
            .running
            .entry(id.get().into())
            .or_insert_with(|| (number, token.clone()));
        Running {
            busy: self.occupy(),
            number,
            id: id.get().into(),
            token,
        }
    }

    /// Cancels a request by its id.
    pub(super) fn cancel(&self, id: &RawValue) {
        let found = self.lock().running.get(id.get()).cloned();
        if let Some((_, token)) = found {
            token.cancel();
        }
    }

    /// Makes an upstream's request one to the client. The text to send, and its number.
    pub(super) fn ask(&self, wish: Wish) -> Option<(String, u64)> {
        let number = self.next_number();
        let Wish {
            method,
            params,
            responder,
        } = wish;
        {
            let mut state = self.lock();
            if state.asked.len() >= ASKED {
                return None;
            }
            state.asked.insert(number, responder);
        }
        let mut text = format!(r#"{{"jsonrpc":"2.0","id":"sb-{number}","method":"#);
        push_text(&mut text, &method);
        if let Some(params) = params {
            text.push_str(r#","params":"#);
            text.push_str(params.get());
        }
        text.push('}');
        Some((text, number))
    }

    /// Takes the client's answer to an upstream's request. Answers to nothing are ignored.
    pub(super) fn answered(&self, id: &RawValue, answer: Result<Box<RawValue>, PeerError>) {
        let number = id
            .get()
            .trim_matches('"')
            .strip_prefix("sb-")
            .and_then(|number| number.parse().ok());
        let responder = number.and_then(|number: u64| self.lock().asked.remove(&number));
        if let Some(responder) = responder {
            responder(answer);
        }
    }

    /// Gives up on an answer.
    pub(super) fn forget(&self, number: u64) {
        // Dropping the responder refuses; not under the lock.
        let responder = self.lock().asked.remove(&number);
        drop(responder);
    }

    /// Subscribes to a resource; false when there are too many.
    pub(super) fn subscribe(&self, uri: &Arc<str>) -> bool {
        let mut state = self.lock();
        if state.subscribed.len() >= SUBSCRIPTIONS && !state.subscribed.contains(uri) {
            return false;
        }
        state.subscribed.insert(uri.clone());
        true
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.lock().subscribed.remove(uri);
    }

    pub(super) fn is_subscribed(&self, uri: &str) -> bool {
        self.lock().subscribed.contains(uri)
    }

    /// Announces when this question is answered.
    pub(super) fn await_approval(&self, id: ApprovalId) {
        let mut state = self.lock();
        if !state.awaited.contains(&id) {
            if state.awaited.len() >= AWAITED {
                state.awaited.pop_front();
            }
            state.awaited.push_back(id);
        }
    }

    /// Whether this question was to be announced; it is no more.
    pub(super) fn announce(&self, id: ApprovalId) -> bool {
        let mut state = self.lock();
        let before = state.awaited.len();
        state.awaited.retain(|awaited| *awaited != id);
        state.awaited.len() < before
    }

    /// What the client last saw of the lists; notes what it sees now.
    pub(super) fn saw(&self, marks: Marks) -> Option<Marks> {
        self.lock().marks.replace(marks)
    }

    /// Notes that the client sees one list as it is now.
    pub(super) fn saw_list(&self, list: usize, marks: Marks) {
        let mut state = self.lock();
        let seen = state.marks.get_or_insert(marks);
        if let (Some(seen), Some(now)) = (seen.get_mut(list), marks.get(list)) {
            *seen = *now;
        }
    }

    /// Makes a standing stream; an earlier one ends. When it ends, and what is said on it.
    pub(super) fn stand(&self) -> (CancellationToken, mpsc::Receiver<String>) {
        let ended = self.closing.child_token();
        let (said, heard) = mpsc::channel(SAID);
        let stand = Stand {
            ended: ended.clone(),
            said,
        };
        let earlier = self.lock().standing.replace(stand);
        if let Some(earlier) = earlier {
            earlier.ended.cancel();
        }
        // It may have ended meanwhile, and then did not see this one.
        if self.ended.is_cancelled() {
            ended.cancel();
        }
        (ended, heard)
    }

    /// Whether a standing stream is open.
    pub(super) fn hears(&self) -> bool {
        self.lock()
            .standing
            .as_ref()
            .is_some_and(|stand| !stand.said.is_closed())
    }

    /// Says something on the standing stream; false where there is none, or its reader is too slow.
    pub(super) fn say(&self, message: String) -> bool {
        self.lock()
            .standing
            .as_ref()
            .is_some_and(|stand| stand.said.try_send(message).is_ok())
    }

    /// Keeps a stream for one who resumes it; its number.
    pub(super) fn keep(&self, log: &Arc<Log>) -> u64 {
        let stream = self.next_number();
        let mut state = self.lock();
        state.streams.retain_mut(|kept| {
            // One that goes on may be waiting for a person; its time counts from its end.
            if !kept.log.is_closed() {
                kept.since = Instant::now();
            }
            kept.since.elapsed() < STREAM_TTL
        });
        let total = |state: &State| state.streams.iter().map(|kept| kept.log.bytes()).sum::<usize>();
        while state.streams.len() >= STREAMS || (total(&state) > STREAM_BYTES && !state.streams.is_empty()) {
            state.streams.pop_front();
        }
        state.streams.push_back(Kept {
            stream,
            log: log.clone(),
            since: Instant::now(),
        });
        stream
    }

    /// The stream with this number.
    pub(super) fn kept(&self, stream: u64) -> Option<Arc<Log>> {
        self.lock()
            .streams
            .iter()
            .find(|kept| kept.stream == stream)
            .map(|kept| kept.log.clone())
    }

    /// Everything of this stream was sent.
    pub(super) fn sent(&self, stream: u64) {
        self.lock().streams.retain(|kept| kept.stream != stream);
    }

    /// Ends everything that belongs to it.
    pub(super) fn end(&self) {
        self.ended.cancel();
        let asked: Vec<PeerResponder> = {
            let mut state = self.lock();
            state.streams.clear();
            if let Some(stand) = state.standing.take() {
                stand.ended.cancel();
            }
            state.asked.drain().map(|(_, responder)| responder).collect()
        };
        drop(asked);
    }

    fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives its session is not idle.
pub(super) struct Busy(Arc<Session>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.touch();
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request under way.
pub(super) struct Running {
    busy: Busy,
    number: u64,
    id: Box<str>,
    /// Cancelled when the client cancels it, or the session ends.
    pub(super) token: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.busy.0.lock();
        // A client that uses an id again while it is in use can cancel the earlier request only.
        if state
            .running
            .get(&self.id)
            .is_some_and(|(number, _)| *number == self.number)
        {
            state.running.remove(&self.id);
        }
    }
}
