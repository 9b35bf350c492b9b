//! The events of one response stream: written by whoever makes them, read by the response, and again by one that resumes it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::Stream;
use http::{HeaderValue, header};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::sync::DropGuard;

/// Bytes one log holds. Notifications beyond are dropped; answers and requests never are.
const HELD_BYTES: usize = 1 << 20;
/// Bytes of events that were read already and are kept for one who resumes.
const KEPT_BYTES: usize = 256 << 10;
/// How often a silent stream says that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// The events of one stream.
#[derive(Default)]
pub(super) struct Log {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Default)]
struct State {
    events: VecDeque<Bytes>,
    /// The number of the first event held.
    first: u64,
    bytes: usize,
    closed: bool,
}

/// What is next in a log.
enum Next {
    Event(u64, Bytes),
    NotYet,
    End,
}

impl Log {
    /// Adds what must arrive.
    pub(super) fn push(&self, json: &str) {
        self.add(json, true);
    }

    /// Adds what may be left out where the reader is too slow.
    pub(super) fn note(&self, json: &str) {
        self.add(json, false);
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_waiters();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    pub(super) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn add(&self, json: &str, needed: bool) {
        {
            let mut state = self.lock();
            if state.closed || (!needed && state.bytes >= HELD_BYTES) {
                return;
            }
            state.bytes += json.len();
            state.events.push_back(one_line(json));
        }
        self.wake.notify_waiters();
    }

    /// The event with this number, or the first one after it that is still held. What came before was read once and is kept only
    /// while it is little.
    fn at(&self, number: u64) -> Next {
        let mut state = self.lock();
        while state.bytes > KEPT_BYTES
            && state.first < number
            && let Some(read) = state.events.pop_front()
        {
            state.first += 1;
            state.bytes = state.bytes.saturating_sub(read.len());
        }
        let number = number.max(state.first);
        let index = usize::try_from(number - state.first).unwrap_or(usize::MAX);
        match state.events.get(index) {
            Some(event) => Next::Event(number, event.clone()),
            None if state.closed => Next::End,
            None => Next::NotYet,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Line ends in JSON are space between tokens, and would end an event's line.
fn one_line(json: &str) -> Bytes {
    if json.bytes().any(|b| b == b'\n' || b == b'\r') {
        Bytes::from(json.replace(['\n', '\r'], " "))
    } else {
        Bytes::copy_from_slice(json.as_bytes())
    }
}

/// How a log is read.
pub(super) struct Reading {
    pub(super) log: Arc<Log>,
    /// The number of the first event wanted.
    pub(super) from: u64,
    /// What event ids begin with, where the stream can be resumed.
    pub(super) resumable: Option<Resumable>,
    /// Cancels whoever writes when the reader is gone.
    pub(super) guard: Option<DropGuard>,
}

/// A stream that can be resumed.
pub(super) struct Resumable {
    /// The stream's number.
    pub(super) stream: u64,
    /// Whether to begin with an event that has an id and nothing else (2025-11-25, transports).
    pub(super) prime: bool,
    /// Called when everything was sent.
    pub(super) done: Box<dyn FnOnce() + Send>,
}

/// A response that streams a log.
pub(super) fn respond(reading: Reading) -> Response {
    event_stream(Body::from_stream(read(reading)))
}

/// A response with these server-sent events.
pub(super) fn event_stream(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// One event without an id.
pub(super) fn event(json: &str) -> String {
    format!("event: message\ndata: {}\n\n", json.replace(['\n', '\r'], " "))
}

fn read(reading: Reading) -> impl Stream<Item = Result<Bytes, Infallible>> {
    futures::stream::unfold(reading, |mut reading| async move {
        if let Some(resumable) = reading.resumable.as_mut().filter(|resumable| resumable.prime) {
            resumable.prime = false;
            let prime = format!(
                "id: {}-{}\nretry: 1000\ndata: \n\n",
                resumable.stream, reading.from
            );
            return Some((Ok(Bytes::from(prime)), reading));
        }
        let next = tokio::time::timeout(ALIVE, wait(&reading.log, reading.from)).await;
        match next {
            Err(_) => Some((Ok(Bytes::from_static(b": alive\n\n")), reading)),
            Ok(None) => {
                if let Some(resumable) = reading.resumable.take() {
                    (resumable.done)();
                }
                if let Some(guard) = reading.guard.take() {
                    // Whoever wrote is done.
                    drop(guard.disarm());
                }
                None
            }
            Ok(Some((number, json))) => {
                reading.from = number + 1;
                let id = reading
                    .resumable
                    .as_ref()
                    .map(|r| format!("id: {}-{}\n", r.stream, reading.from));
                let mut out = Vec::with_capacity(json.len() + 48);
                out.extend_from_slice(id.unwrap_or_default().as_bytes());
                out.extend_from_slice(b"event: message\ndata: ");
                out.extend_from_slice(&json);
                out.extend_from_slice(b"\n\n");
                Some((Ok(Bytes::from(out)), reading))
            }
        }
    })
}

async fn wait(log: &Log, from: u64) -> Option<(u64, Bytes)> {
    loop {
        let woken = log.wake.notified();
        tokio::pin!(woken);
        // Listens before it looks, so that nothing falls in between.
        woken.as_mut().enable();
        match log.at(from) {
            Next::Event(number, json) => return Some((number, json)),
            Next::End => return None,
            Next::NotYet => woken.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Log, Reading, Resumable, respond};

    async fn text(reading: Reading) -> String {
        let body = axum::body::to_bytes(respond(reading).into_body(), 1 << 20)
            .await
            .unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn reads_to_the_end_and_resumes() {
        let log = Arc::new(Log::default());
        log.note("{\"a\":\n1}");
        log.push("{\"b\":2}");
        log.close();
        log.push("{\"late\":3}");
        let resumable = |prime| {
            Some(Resumable {
                stream: 4,
                prime,
                done: Box::new(|| {}),
            })
        };
        let whole = text(Reading {
            log: log.clone(),
            from: 0,
            resumable: resumable(true),
            guard: None,
        })
        .await;
        assert_eq!(
            whole,
            "id: 4-0\nretry: 1000\ndata: \n\nid: 4-1\nevent: message\ndata: {\"a\": 1}\n\nid: 4-2\nevent: message\ndata: {\"b\":2}\n\n"
        );
        let again = text(Reading {
            log,
            from: 1,
            resumable: resumable(false),
            guard: None,
        })
        .await;
        assert_eq!(again, "id: 4-2\nevent: message\ndata: {\"b\":2}\n\n");
    }
}
