//! Events from a response body, each awaited within a deadline that nothing but an event ends.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use super::{Event, Parser};
use crate::http::{HttpError, Leftovers, Part, Phase};

/// The events of one response. Dropping it closes the exchange, and with HTTP/1.1 the connection.
#[derive(Debug)]
pub struct EventStream {
    body: Incoming,
    parser: Parser,
    ended: bool,
    leftovers: Leftovers,
}

impl EventStream {
    pub(crate) fn new(body: Incoming, max_event: usize, leftovers: Leftovers) -> Self {
        Self {
            body,
            parser: Parser::new(max_event),
            ended: false,
            leftovers,
        }
    }

    /// The next event, `None` at the end of the stream. Comments and other keep-alives are swallowed and do not extend
    /// the deadline, however many arrive. Cancel-safe: nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// The deadline passes, the event outgrows its bound, or the connection breaks. All of them count as sent.
    pub async fn next(&mut self, deadline: Instant) -> Result<Option<Event>, HttpError> {
        loop {
            match self.parser.next_event() {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) if self.ended => return Ok(None),
                Ok(None) => {}
                Err(error) => {
                    self.ended = true;
                    return Err(HttpError::TooLarge {
                        part: Part::Event,
                        limit: error.limit,
                    });
                }
            }
            // A body that is always ready never lets the timer look at the clock.
            let late = HttpError::Timeout {
                phase: Phase::Event,
                sent: true,
            };
            if Instant::now() >= deadline {
                return Err(late);
            }
            match timeout_at(deadline, self.body.frame()).await {
                Err(_) => return Err(late),
                Ok(None) => self.ended = true,
                Ok(Some(Err(error))) => {
                    self.ended = true;
                    return Err(HttpError::broken(error));
                }
                Ok(Some(Ok(frame))) => {
                    if let Ok(chunk) = frame.into_data() {
                        self.parser.push(chunk);
                    }
                }
            }
        }
    }

    /// Ends an exchange that has given the caller what it came for. The server usually ends the stream right after, so
    /// its end is read for a moment in the background and the connection goes back to the pool.
    pub fn release(self) {
        if !self.ended {
            self.leftovers.take(self.body);
        }
    }

    /// The id to send as `Last-Event-ID` when resuming this stream.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.parser.last_event_id()
    }

    /// The latest reconnection time the server has asked for.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.parser.retry()
    }
}
