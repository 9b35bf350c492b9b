//! The reading of messages, as the fuzz targets reach it. Nothing else uses this, and nothing of it is promised.

use super::wire::{Members, Message, unambiguous};

/// What a message was read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A request: the text of its id, its method, the names of its params.
    Request(String, String, Option<Vec<String>>),
    /// A notification: its method.
    Notification(String),
    /// An answer: the text of its id, and whether it is a result.
    Answer(String, bool),
}

/// Reads the body of a POST as the endpoint does; none where it is no message.
#[must_use]
pub fn read(body: &[u8]) -> Option<Seen> {
    let text = std::str::from_utf8(body).ok().filter(|text| unambiguous(text))?;
    Some(match Message::read(text).ok()? {
        Message::Request { id, method, params } => {
            let members = Members::of_params(params);
            let names = members.map(|members| members.iter().map(|(name, _)| name.to_owned()).collect());
            Seen::Request(id.get().to_owned(), method.into_owned(), names)
        }
        Message::Notification { method, .. } => Seen::Notification(method.into_owned()),
        Message::Response { id, answer } => Seen::Answer(id.get().to_owned(), answer.is_ok()),
    })
}

/// The params of a request without one member, as they are written for an upstream; none where there are no such params.
#[must_use]
pub fn without(body: &[u8], member: &str) -> Option<String> {
    let text = std::str::from_utf8(body).ok().filter(|text| unambiguous(text))?;
    let Message::Request { params, .. } = Message::read(text).ok()? else {
        return None;
    };
    let members = Members::read(params?)?;
    Some(members.filtered(|name| name != member).get().to_owned())
}
