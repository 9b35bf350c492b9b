//! Streams over which a server speaks unasked, and who has which.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::script::Played;
use super::upstream::{comment, event};
use crate::scripted::{Feed, Reply, Step};

/// Where what is said goes; none ends the stream.
type Spoken = UnboundedSender<Option<Bytes>>;

/// The open streams, by session.
#[derive(Debug, Default)]
pub(super) struct Feeds {
    open: Mutex<(u64, HashMap<u64, Spoken>)>,
}

impl Feeds {
    /// Opens a stream that begins with this, made from its number.
    pub(super) fn open(&self, beginning: impl FnOnce(u64) -> String) -> Reply {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, streams) = &mut *open;
        streams.retain(|_, stream| !stream.is_closed());
        *last += 1;
        let (sender, receiver) = unbounded_channel();
        streams.insert(*last, sender);
        Reply::status(200)
            .header("content-type", "text/event-stream")
            .then(Step::Bytes(Bytes::from(beginning(*last))))
            .then(Step::Feed(Feed::new(receiver)))
    }

    /// The stream of this number, if it is open.
    pub(super) fn get(&self, number: u64) -> Option<UnboundedSender<Option<Bytes>>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.1.get(&number).filter(|stream| !stream.is_closed()).cloned()
    }

    /// The stream opened last, if it is open.
    pub(super) fn last(&self) -> Option<UnboundedSender<Option<Bytes>>> {
        let last = self.open.lock().unwrap_or_else(PoisonError::into_inner).0;
        self.get(last)
    }
}

/// Says all of it on a stream, in a task of its own that ends with the stream.
pub(super) fn speak(stream: Spoken, played: Vec<Played>) {
    tokio::spawn(async move {
        for one in played {
            let sent = match one {
                Played::Message(bytes) => stream.send(Some(event(&bytes))),
                Played::Part(bytes) => stream.send(Some(Bytes::from(bytes))),
                Played::Comment => stream.send(Some(comment())),
                Played::Pause(pause) => {
                    tokio::select! {
                        () = tokio::time::sleep(pause) => Ok(()),
                        () = stream.closed() => return,
                    }
                }
                Played::Hang => return,
                Played::End => stream.send(None),
            };
            if sent.is_err() {
                return;
            }
        }
    });
}
