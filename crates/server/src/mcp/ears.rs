//! Hears what an upstream says during one call, in order, until someone can pass it on.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use domain::{CallEvents, PeerError, PeerResponder};
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::answer::codes;
use super::client::{Client, rank};
use super::wire::Members;

/// Most things heard and not yet passed on; what is heard beyond is dropped.
const HELD: usize = 1_024;

/// Something an upstream said.
pub(super) enum Heard {
    /// A notification, ready to be sent.
    Note(String),
    /// A request of its own.
    Wish(Wish),
}

/// A request of an upstream to the client.
pub(super) struct Wish {
    pub(super) method: String,
    pub(super) params: Option<Box<RawValue>>,
    pub(super) responder: PeerResponder,
}

impl Wish {
    /// Says that the client cannot be asked this.
    pub(super) fn refuse(self) {
        let message = format!("the client does not support {}", self.method);
        (self.responder)(Err(PeerError {
            code: codes::METHOD_NOT_FOUND,
            message,
            data: None,
        }));
    }
}

impl Wish {
    /// Says that the client has nothing open to be asked on.
    pub(super) fn unheard(self) {
        (self.responder)(Err(PeerError {
            code: codes::INTERNAL,
            message:
                "the client has no stream open on which it could be asked; ask while a call is under way"
                    .to_owned(),
            data: None,
        }));
    }
}

/// What the client wants to hear.
struct Wanted {
    progress: Option<Box<RawValue>>,
    level: Option<usize>,
}

impl Wanted {
    fn by(client: &Client) -> Self {
        Self {
            progress: client.progress.clone(),
            level: client.rank(),
        }
    }
}

/// The ears of one call.
pub(super) struct Ears {
    wanted: Mutex<Wanted>,
    held: Mutex<VecDeque<Heard>>,
    wake: Notify,
}

impl Ears {
    pub(super) fn of(client: &Client) -> Self {
        Self {
            wanted: Mutex::new(Wanted::by(client)),
            held: Mutex::new(VecDeque::new()),
            wake: Notify::new(),
        }
    }

    /// Listens for another request of the same client from now on.
    pub(super) fn readdress(&self, client: &Client) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Wanted::by(client);
    }

    /// The next thing heard. For one listener.
    pub(super) async fn heard(&self) -> Heard {
        loop {
            if let Some(heard) = self.pop() {
                return heard;
            }
            self.wake.notified().await;
        }
    }

    /// The next thing heard, if there is one.
    pub(super) fn pop(&self) -> Option<Heard> {
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }

    fn push(&self, heard: Heard) {
        {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            if held.len() >= HELD {
                return;
            }
            held.push_back(heard);
        }
        self.wake.notify_one();
    }
}

impl CallEvents for Ears {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let note = {
            let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            match method {
                "notifications/progress" => progress(wanted.progress.as_deref(), params),
                "notifications/message" => message(wanted.level, params),
                "notifications/elicitation/complete" => Some(notification(method, params.map(RawValue::get))),
                _ => None,
            }
        };
        if let Some(note) = note {
            self.push(Heard::Note(note));
        }
    }

    fn request(&self, method: &str, params: Option<&RawValue>, responder: PeerResponder) {
        let params = params.map(without_token);
        self.push(Heard::Wish(Wish {
            method: method.to_owned(),
            params,
            responder,
        }));
    }
}

/// A notification with these params.
pub(super) fn notification(method: &str, params: Option<&str>) -> String {
    let params = params
        .map(|params| format!(r#","params":{params}"#))
        .unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#)
}

/// Progress under the client's own token.
fn progress(token: Option<&RawValue>, params: Option<&RawValue>) -> Option<String> {
    let (token, members) = (token?, Members::read(params?)?);
    let others = members.filtered(|name| name != "progressToken");
    let rest = others.get().strip_prefix('{')?;
    let comma = if rest == "}" { "" } else { "," };
    let params = format!(r#"{{"progressToken":{}{comma}{rest}"#, token.get());
    Some(notification("notifications/progress", Some(&params)))
}

/// A log message, if it is as grave as the client wants.
pub(super) fn message(wanted: Option<usize>, params: Option<&RawValue>) -> Option<String> {
    let params = params?;
    let level = Members::read(params)?
        .text("level")
        .and_then(|level| rank(&level))?;
    (level >= wanted?).then(|| notification("notifications/message", Some(params.get())))
}

/// A request's params without its progress token: nobody would pass the client's progress on, and two upstreams may use the same token
/// towards one client.
pub(super) fn without_token(params: &RawValue) -> Box<RawValue> {
    let read = Members::read(params);
    let meta = read
        .as_ref()
        .and_then(|members| members.get("_meta"))
        .and_then(Members::read);
    let (Some(members), Some(meta)) = (read, meta) else {
        return params.to_owned();
    };
    if meta.get("progressToken").is_none() {
        return params.to_owned();
    }
    let meta = meta.filtered(|name| name != "progressToken");
    let others = members.filtered(|name| name != "_meta");
    let Some(rest) = others.get().strip_prefix('{').filter(|_| meta.get() != "{}") else {
        return others;
    };
    let comma = if rest == "}" { "" } else { "," };
    RawValue::from_string(format!(r#"{{"_meta":{}{comma}{rest}"#, meta.get())).unwrap_or(others)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{message, progress, without_token};

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn progress_goes_under_the_clients_token() {
        let params = raw(r#"{"progress":1,"progressToken":"ours","total":2}"#);
        assert_eq!(
            progress(Some(&raw("\"theirs\"")), Some(&params)).as_deref(),
            Some(
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"theirs","progress":1,"total":2}}"#
            )
        );
        assert_eq!(progress(None, Some(&params)), None);
    }

    #[test]
    fn progress_tokens_of_upstreams_stay_with_us() {
        let cases = [
            (r#"{"mode":"form"}"#, r#"{"mode":"form"}"#),
            (r#"{"a":1, "_meta":{"x":1}}"#, r#"{"a":1, "_meta":{"x":1}}"#),
            (r#"{"_meta":{"progressToken":0},"a":1}"#, r#"{"a":1}"#),
            (r#"{"_meta":{"progressToken":0}}"#, "{}"),
            (
                r#"{"a":1,"_meta":{"progressToken":"t","x":[ 1 ]}}"#,
                r#"{"_meta":{"x":[ 1 ]},"a":1}"#,
            ),
            (r#"{"_meta":{"progressToken":0,"x":1}}"#, r#"{"_meta":{"x":1}}"#),
            ("[]", "[]"),
        ];
        for (params, want) in cases {
            assert_eq!(without_token(&raw(params)).get(), want);
        }
    }

    #[test]
    fn messages_below_the_wanted_level_are_left_out() {
        let params = raw(r#"{"level":"info","data":"x"}"#);
        for (wanted, heard) in [(None, false), (Some(0), true), (Some(1), true), (Some(2), false)] {
            assert_eq!(message(wanted, Some(&params)).is_some(), heard, "{wanted:?}");
        }
    }
}
