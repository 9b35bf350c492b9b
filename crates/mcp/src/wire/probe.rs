//! The reading and writing of messages, as the fuzz targets reach it. Nothing else uses this, and nothing of it is promised.

use super::{Incoming, Object, Salvaged, Stamp, each};

/// What one message was read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A request: the text of its id, its method, the text of its params.
    Request(String, String, Option<String>),
    /// A notification: its method, the text of its params.
    Notification(String, Option<String>),
    /// An answer to this request of ours: the result's text, or the error's code.
    Answer(Option<u64>, Result<String, i64>),
    /// Not a message.
    Bad,
}

/// Reads bytes as the transports do; none where they hold no message at all.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Vec<Seen>> {
    let mut seen = Vec::new();
    let text = |raw: Option<&serde_json::value::RawValue>| raw.map(|raw| raw.get().to_owned());
    let read = each(bytes, |message| {
        seen.push(match message {
            Ok(Incoming::Request { id, method, params }) => {
                Seen::Request(id.get().to_owned(), method, text(params))
            }
            Ok(Incoming::Notification { method, params }) => Seen::Notification(method, text(params)),
            Ok(Incoming::Response { id, outcome }) => Seen::Answer(
                id,
                outcome
                    .map(|raw| raw.get().to_owned())
                    .map_err(|error| error.code),
            ),
            Err(_) => Seen::Bad,
        });
    });
    read.is_ok().then_some(seen)
}

/// The request that an oversized message answers, as far as its two ends tell.
#[must_use]
pub fn salvaged(head: &[u8], tail: &[u8]) -> Option<u64> {
    match super::salvage(head, tail) {
        Salvaged::Answer(id) => Some(id),
        Salvaged::Unclear | Salvaged::Other => None,
    }
}

/// A request as it is sent to a modern server.
#[must_use]
pub fn request(id: u64, method: &str, params: &Object) -> Vec<u8> {
    let stamp = Stamp {
        progress: Some(id),
        version: Some("2026-07-28"),
        ..Stamp::default()
    };
    super::request(id, method, params, stamp)
}
