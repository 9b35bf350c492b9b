//! The standing GET stream of a legacy session, on which a server speaks unasked. Optional; most servers refuse it.

use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderMap, HeaderValue};
use tokio::time::{Instant, sleep, timeout};

use super::{Standing, Streamable, channel};
use crate::endpoint::LAST_EVENT;
use crate::http::Content;
use crate::peer::Session;
use crate::sse::EventStream;

/// A silent stream is opened anew after this long, in case the connection died unnoticed.
const SILENCE: Duration = Duration::from_secs(30 * 60);
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);
/// Failures in a row before a server that never gave the stream is left alone.
const MAX_FAILURES: u32 = 3;
/// How long a new session waits for the stream. Some servers answer the GET only once they have something to say.
const SETTLING: Duration = Duration::from_millis(500);

/// Reads the standing stream until the session is over or the server declines.
pub(crate) async fn listen(session: Arc<Session>) {
    tokio::select! {
        () = session.over.cancelled() => {}
        () = keep_open(&session) => {}
    }
}

/// Waits until the standing stream is open or declined: what a server asks before that is lost, and the call it asked
/// for hangs. Servers that leave it undecided cost each session half a second.
pub(crate) async fn settled(session: &Arc<Session>) {
    if let Some(http) = channel(session) {
        // Undecided is as good as declined.
        drop(timeout(SETTLING, http.settled.cancelled()).await);
    }
}

async fn keep_open(session: &Arc<Session>) {
    let Some(http) = channel(session) else { return };
    let mut last: Option<HeaderValue> = None;
    let mut wait = FIRST_RETRY;
    let mut failures = 0;
    loop {
        match http.open_standing(session, last.as_ref()).await {
            Opened::Stream(mut stream) => {
                failures = 0;
                let open = Standing::open(http);
                http.settled.cancel();
                read(session, &mut stream).await;
                drop(open);
                last = stream
                    .last_event_id()
                    .and_then(|id| HeaderValue::from_str(id).ok())
                    .or(last);
                wait = stream
                    .retry()
                    .unwrap_or(FIRST_RETRY)
                    .clamp(FIRST_RETRY / 10, LAST_RETRY);
            }
            Opened::Declined => return http.settled.cancel(),
            Opened::Failed if failures == MAX_FAILURES && last.is_none() => return,
            Opened::Failed => {
                http.settled.cancel();
                failures += 1;
                wait = (wait * 2).min(LAST_RETRY);
            }
        }
        sleep(wait).await;
    }
}

async fn read(session: &Arc<Session>, stream: &mut EventStream) {
    while let Ok(Some(event)) = stream.next(Instant::now() + SILENCE).await {
        if event.event == "message" && !event.data.is_empty() {
            session.receive(&event.data);
        }
    }
}

enum Opened {
    Stream(Box<EventStream>),
    /// The server does not offer the stream (405, or any other refusal), or the session is gone.
    Declined,
    /// It may work later.
    Failed,
}

impl Streamable {
    async fn open_standing(&self, session: &Session, last: Option<&HeaderValue>) -> Opened {
        let headers = |headers: &mut HeaderMap| {
            self.session_headers(headers, session.version());
            if let Some(last) = last {
                headers.insert(LAST_EVENT, last.clone());
            }
            Ok(())
        };
        let deadline = Instant::now() + session.limits.call;
        match self.endpoint.get(headers, deadline).await {
            Ok(response) if response.status.is_success() && response.content() == Content::Events => response
                .events(session.limits.max_message)
                .map_or(Opened::Declined, |stream| Opened::Stream(Box::new(stream))),
            Ok(response) if response.status.is_server_error() || response.status.as_u16() == 429 => {
                Opened::Failed
            }
            Ok(_) => Opened::Declined,
            Err(error) if error.http_status().is_some() => Opened::Declined,
            Err(_) => Opened::Failed,
        }
    }
}
