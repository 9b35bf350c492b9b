//! What an upstream says outside of any call, in a session of its own for one client's session: it goes to the client's standing stream.

use std::sync::{Arc, Weak};
use std::time::Duration;

use domain::{CallEvents, PeerResponder};
use serde_json::value::RawValue;

use super::client::rank;
use super::ears::{Wish, message, notification, without_token};
use super::session::Session;

/// Listens for a session.
pub(super) struct Outside {
    session: Weak<Session>,
    /// How long the client may take to answer.
    longest: Duration,
}

impl Outside {
    pub(super) fn of(session: &Arc<Session>, longest: Duration) -> Self {
        Self {
            session: Arc::downgrade(session),
            longest,
        }
    }
}

impl CallEvents for Outside {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let Some(session) = self.session.upgrade() else {
            return;
        };
        let note = match method {
            "notifications/message" => message(session.level().as_deref().and_then(rank), params),
            "notifications/elicitation/complete" => Some(notification(method, params.map(RawValue::get))),
            // Progress of no request, and what no revision knows.
            _ => None,
        };
        if let Some(note) = note {
            // One who has no stream open, or is too slow, misses it.
            session.say(note);
        }
    }

    fn request(&self, method: &str, params: Option<&RawValue>, responder: PeerResponder) {
        let wish = Wish {
            method: method.to_owned(),
            params: params.map(without_token),
            responder,
        };
        let Some(session) = self.session.upgrade() else {
            return wish.refuse();
        };
        if !session.can.admits(&wish.method, wish.params.as_deref()) {
            return wish.refuse();
        }
        if !session.hears() {
            return wish.unheard();
        }
        // One too many is dropped, which refuses it.
        let Some((text, number)) = session.ask(wish) else {
            return;
        };
        if !session.say(text) {
            return session.forget(number);
        }
        let longest = self.longest;
        tokio::spawn(async move {
            // Answered or not, and whether or not the client is still there: nobody waits any longer.
            let _ended = tokio::time::timeout(longest, session.ended.cancelled()).await;
            session.forget(number);
        });
    }
}
