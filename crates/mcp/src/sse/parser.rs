//! The event stream grammar, chunk by chunk and within a bound.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::Event;

/// An event, or a line that has not ended, is longer than the parser may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit} bytes")]
pub struct EventTooLarge {
    /// The bound, in bytes.
    pub limit: usize,
}

/// An incremental parser: push a chunk, take events until there are none, push the next chunk.
///
/// The events do not depend on how the stream is cut into chunks. An event that lies in one chunk and has one data line
/// is not copied. Comments are skipped as they arrive and count against nothing.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    /// Bytes not looked at yet.
    chunk: Bytes,
    /// The beginning of a line whose end has not arrived.
    partial: BytesMut,
    place: Place,
    /// The next byte is dropped if it is LF, because the CR before it has already ended the line.
    after_cr: bool,
    block: Block,
    id: Option<Arc<str>>,
    retry: Option<Duration>,
}

impl Parser {
    /// A parser that holds at most `limit` bytes of one event.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            chunk: Bytes::new(),
            partial: BytesMut::new(),
            place: Place::FirstLine,
            after_cr: false,
            block: Block::default(),
            id: None,
            retry: None,
        }
    }

    /// Adds the next bytes of the stream.
    pub fn push(&mut self, chunk: Bytes) {
        if self.chunk.is_empty() {
            self.chunk = chunk;
        } else {
            let mut joined = BytesMut::with_capacity(self.chunk.len() + chunk.len());
            joined.extend_from_slice(&self.chunk);
            joined.extend_from_slice(&chunk);
            self.chunk = joined.freeze();
        }
    }

    /// The next complete event; `None` when more bytes are needed. What is left at the end of the stream is no event.
    ///
    /// # Errors
    /// The event outgrows the limit. The parser is of no further use then.
    pub fn next_event(&mut self) -> Result<Option<Event>, EventTooLarge> {
        while let Some(line) = self.next_line()? {
            if !line.is_empty() {
                self.field(&line)?;
            } else if let Some(event) = self.dispatch() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The id to send as `Last-Event-ID` when resuming. Also moves with blocks that carry an id and no data.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The latest reconnection time the server has asked for, in an event or in a block of its own.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// The next line without its end; comments never appear.
    fn next_line(&mut self) -> Result<Option<Bytes>, EventTooLarge> {
        loop {
            if self.after_cr && !self.chunk.is_empty() {
                self.after_cr = false;
                if self.chunk.first() == Some(&b'\n') {
                    drop(self.chunk.split_to(1));
                }
            }
            let at_start = match self.place {
                Place::FirstLine => self.partial.is_empty(),
                Place::LineStart => true,
                Place::InLine | Place::Comment => false,
            };
            if at_start && self.chunk.first() == Some(&b':') {
                self.place = Place::Comment;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', &self.chunk) else {
                return self.keep_partial().map(|()| None);
            };
            let rest = self.chunk.split_to(end);
            self.after_cr = self.chunk.split_to(1).first() == Some(&b'\r');
            let place = std::mem::replace(&mut self.place, Place::LineStart);
            if place == Place::Comment {
                continue;
            }
            let line = self.complete(rest)?;
            if place != Place::FirstLine {
                return Ok(Some(line));
            }
            let line = without_bom(line);
            if line.first() != Some(&b':') {
                return Ok(Some(line));
            }
        }
    }

    /// Puts the rest of the chunk aside until the end of its line arrives.
    fn keep_partial(&mut self) -> Result<(), EventTooLarge> {
        let rest = std::mem::take(&mut self.chunk);
        if rest.is_empty() || self.place == Place::Comment {
            return Ok(());
        }
        if self.place == Place::LineStart {
            self.place = Place::InLine;
        }
        self.check_size(self.partial.len() + rest.len())?;
        self.partial.extend_from_slice(&rest);
        Ok(())
    }

    fn complete(&mut self, rest: Bytes) -> Result<Bytes, EventTooLarge> {
        self.check_size(self.partial.len() + rest.len())?;
        if self.partial.is_empty() {
            return Ok(rest);
        }
        self.partial.extend_from_slice(&rest);
        Ok(self.partial.split().freeze())
    }

    fn check_size(&self, line: usize) -> Result<(), EventTooLarge> {
        if self.block.size.saturating_add(line) > self.limit {
            return Err(EventTooLarge { limit: self.limit });
        }
        Ok(())
    }

    fn field(&mut self, line: &Bytes) -> Result<(), EventTooLarge> {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let name = line.slice(..colon);
        let mut value = line.slice((colon + 1).min(line.len())..);
        if value.first() == Some(&b' ') {
            drop(value.split_to(1));
        }
        match name.as_ref() {
            b"data" => {
                self.block.size += line.len();
                self.block.data.add(value);
            }
            b"event" => self.block.event = Some(event_name(&value)),
            b"id" if !value.contains(&0) => self.block.id = Some(value),
            b"retry" => {
                if let Some(time) = milliseconds(&value) {
                    self.block.retry = Some(time);
                    self.retry = Some(time);
                }
            }
            _ => {}
        }
        self.check_size(0)
    }

    fn dispatch(&mut self) -> Option<Event> {
        let block = std::mem::take(&mut self.block);
        if let Some(id) = block.id {
            let text = String::from_utf8_lossy(&id);
            self.id = (!text.is_empty()).then(|| Arc::from(text.as_ref()));
        }
        let data = block.data.finish()?;
        Some(Event {
            id: self.id.clone(),
            event: block
                .event
                .filter(|name| !name.is_empty())
                .unwrap_or(Cow::Borrowed("message")),
            data,
            retry: block.retry,
        })
    }
}

/// Where in a line the parser stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the first line, which may begin with a byte order mark.
    FirstLine,
    LineStart,
    InLine,
    Comment,
}

/// The fields since the last empty line.
#[derive(Debug, Default)]
struct Block {
    data: Data,
    event: Option<Cow<'static, str>>,
    id: Option<Bytes>,
    retry: Option<Duration>,
    size: usize,
}

#[derive(Debug, Default)]
enum Data {
    #[default]
    Absent,
    One(Bytes),
    Many(BytesMut),
}

impl Data {
    fn add(&mut self, line: Bytes) {
        let mut lines = match std::mem::take(self) {
            Self::Absent => {
                *self = Self::One(line);
                return;
            }
            Self::One(first) => BytesMut::from(first),
            Self::Many(lines) => lines,
        };
        lines.extend_from_slice(b"\n");
        lines.extend_from_slice(&line);
        *self = Self::Many(lines);
    }

    fn finish(self) -> Option<Bytes> {
        match self {
            Self::Absent => None,
            Self::One(line) => Some(line),
            Self::Many(lines) => Some(lines.freeze()),
        }
    }
}

fn without_bom(mut line: Bytes) -> Bytes {
    if line.starts_with(b"\xef\xbb\xbf") {
        drop(line.split_to(3));
    }
    line
}

/// The names that MCP servers send cost no allocation.
fn event_name(value: &[u8]) -> Cow<'static, str> {
    match value {
        b"message" => Cow::Borrowed("message"),
        b"endpoint" => Cow::Borrowed("endpoint"),
        other => Cow::Owned(String::from_utf8_lossy(other).into_owned()),
    }
}

/// Digits only; anything else is ignored, as the standard asks.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value)
        .ok()?
        .parse()
        .ok()
        .map(Duration::from_millis)
}
