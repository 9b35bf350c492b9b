//! A response: its head exactly as received, its body read once and within bounds.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use chrono::DateTime;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderName, RETRY_AFTER};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::{Instant, timeout_at};

use super::{HttpError, HttpLimits, Leftovers, Part, Phase};
use crate::sse::EventStream;

/// A response whose body has not been read. Dropping it abandons the body.
#[derive(Debug)]
pub struct HttpResponse {
    /// The exact status; never a redirect.
    pub status: StatusCode,
    /// The headers as received.
    pub headers: HeaderMap,
    body: Incoming,
    limits: HttpLimits,
    leftovers: Leftovers,
}

/// What the body claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// `application/json` or a `+json` type.
    Json,
    /// `text/event-stream`.
    Events,
    /// Another type.
    Other,
    /// No type at all.
    Absent,
}

impl HttpResponse {
    pub(super) fn new(response: Response<Incoming>, limits: HttpLimits, leftovers: Leftovers) -> Self {
        let (head, body) = response.into_parts();
        Self {
            status: head.status,
            headers: head.headers,
            body,
            limits,
            leftovers,
        }
    }

    /// What the body claims to be, by `Content-Type` without parameters and case.
    #[must_use]
    pub fn content(&self) -> Content {
        let Some(value) = self.headers.get(CONTENT_TYPE) else {
            return Content::Absent;
        };
        let text = value.to_str().unwrap_or_default();
        let essence = text
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        match essence.as_str() {
            "text/event-stream" => Content::Events,
            "application/json" => Content::Json,
            other if other.ends_with("+json") => Content::Json,
            _ => Content::Other,
        }
    }

    /// The whole body, at most `max` bytes and at most the client's own limit. A body that arrives in one piece is not
    /// copied.
    ///
    /// # Errors
    /// Too large, compressed, the deadline passed, silent for too long, or broken off.
    pub async fn bytes(mut self, max: usize, deadline: Instant) -> Result<Bytes, HttpError> {
        self.check_encoding()?;
        let limit = max.min(self.limits.max_body);
        let too_large = HttpError::TooLarge {
            part: Part::Body,
            limit,
        };
        let announced = self
            .header(&CONTENT_LENGTH)
            .and_then(|length| length.parse::<u64>().ok());
        if announced.is_some_and(|length| length > limit as u64) {
            return Err(too_large);
        }
        let mut whole = Collected::default();
        while let Some(chunk) = self.chunk(deadline).await? {
            if whole.len() + chunk.len() > limit {
                return Err(too_large);
            }
            whole.add(chunk);
        }
        Ok(whole.finish())
    }

    /// The beginning of the body for an error report, at most the client's limit for it; what cannot be read in time is
    /// left out.
    pub async fn excerpt(mut self, deadline: Instant) -> Bytes {
        let limit = self.limits.max_error_body;
        let mut whole = Collected::default();
        while let Ok(Some(mut chunk)) = self.chunk(deadline).await {
            chunk.truncate(limit - whole.len());
            whole.add(chunk);
            if whole.len() == limit {
                break;
            }
        }
        whole.finish()
    }

    /// The body as events of at most `max_event` bytes each and at most the client's own limit.
    ///
    /// # Errors
    /// The body is compressed.
    pub fn events(self, max_event: usize) -> Result<EventStream, HttpError> {
        self.check_encoding()?;
        Ok(EventStream::new(
            self.body,
            max_event.min(self.limits.max_event),
            self.leftovers,
        ))
    }

    /// How long the server asks to wait: `Retry-After` in seconds, or as a date measured against the response's own
    /// `Date`, which needs no clock of ours (RFC 9110 §10.2.3).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let value = self.header(&RETRY_AFTER)?.trim();
        if let Ok(seconds) = value.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let then = DateTime::parse_from_rfc2822(value).ok()?;
        let now = DateTime::parse_from_rfc2822(self.header(&DATE)?.trim()).ok()?;
        Some((then - now).to_std().unwrap_or(Duration::ZERO))
    }

    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn check_encoding(&self) -> Result<(), HttpError> {
        match self.headers.get(CONTENT_ENCODING) {
            None => Ok(()),
            Some(value) if value.as_bytes().eq_ignore_ascii_case(b"identity") => Ok(()),
            Some(_) => Err(HttpError::Encoded),
        }
    }

    /// The next piece of the body, within the deadline and the limit of silence.
    async fn chunk(&mut self, deadline: Instant) -> Result<Option<Bytes>, HttpError> {
        loop {
            if self.body.is_end_stream() {
                return Ok(None);
            }
            let now = Instant::now();
            let late = HttpError::Timeout {
                phase: Phase::Body,
                sent: true,
            };
            if now >= deadline {
                return Err(late);
            }
            match timeout_at(deadline.min(now + self.limits.idle_read), self.body.frame()).await {
                Err(_) => return Err(late),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(HttpError::broken(error)),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

/// Pieces put together; a single one is kept as it is.
#[derive(Default)]
struct Collected {
    first: Bytes,
    rest: BytesMut,
}

impl Collected {
    fn len(&self) -> usize {
        if self.rest.is_empty() {
            self.first.len()
        } else {
            self.rest.len()
        }
    }

    fn add(&mut self, chunk: Bytes) {
        if self.rest.is_empty() {
            if self.first.is_empty() {
                self.first = chunk;
                return;
            }
            self.rest.reserve(self.first.len() + chunk.len());
            self.rest.extend_from_slice(&self.first);
        }
        self.rest.extend_from_slice(&chunk);
    }

    fn finish(self) -> Bytes {
        if self.rest.is_empty() {
            self.first
        } else {
            self.rest.freeze()
        }
    }
}
