//! Server-sent events: a pure incremental parser and the stream that feeds it from a response.

mod parser;
mod stream;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub use self::parser::{EventTooLarge, Parser};
pub use self::stream::EventStream;

/// One dispatched event (WHATWG HTML, "server-sent events").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The last event id in effect: this event's own, else the one before it; `None` when there is none or it is empty.
    pub id: Option<Arc<str>>,
    /// The event type; `message` when the server names none.
    pub event: Cow<'static, str>,
    /// The data, lines joined by LF. Not checked to be UTF-8; a JSON parser does that.
    pub data: Bytes,
    /// The reconnection time this event carries.
    pub retry: Option<Duration>,
}
