//! The table of calls in flight, and of the server's own requests still open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::Events;
use crate::error::RequestError;

/// What became of a call.
pub(crate) type Answer = Result<Box<RawValue>, RequestError>;

/// A server may have this many requests open; more are refused, so that it cannot fill our memory.
const MAX_ASKED: usize = 256;

/// Calls by id. Locked for a lookup at a time, never across an await.
#[derive(Default)]
pub(crate) struct InFlight {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    calls: HashMap<u64, Entry>,
    /// The server's open requests by raw id, with the call each belongs to.
    asked: HashMap<String, Option<u64>>,
    closed: Option<Arc<str>>,
    drained: bool,
}

struct Entry {
    answer: oneshot::Sender<Answer>,
    events: Arc<dyn Events>,
    /// Lives long and says nothing about which call the server is working on.
    standing: bool,
}

impl InFlight {
    /// Enters a call; refused with the reason when the session is over.
    pub(crate) fn enter(
        &self,
        id: u64,
        events: Arc<dyn Events>,
        standing: bool,
    ) -> Result<oneshot::Receiver<Answer>, Arc<str>> {
        let mut table = self.lock();
        if let Some(reason) = &table.closed {
            return Err(Arc::clone(reason));
        }
        let (answer, receiver) = oneshot::channel();
        table.calls.insert(
            id,
            Entry {
                answer,
                events,
                standing,
            },
        );
        Ok(receiver)
    }

    /// Forgets a call; later words about it are nobody's.
    pub(crate) fn leave(&self, id: u64) {
        self.lock().calls.remove(&id);
    }

    /// Hands a call its answer; `false` if no such call waits.
    pub(crate) fn complete(&self, id: u64, answer: Answer) -> bool {
        let entry = self.lock().calls.remove(&id);
        entry.is_some_and(|entry| entry.answer.send(answer).is_ok())
    }

    /// Who follows a call.
    pub(crate) fn events_of(&self, id: u64) -> Option<Arc<dyn Events>> {
        self.lock().calls.get(&id).map(|entry| Arc::clone(&entry.events))
    }

    /// The call in flight, if there is exactly one.
    pub(crate) fn only(&self) -> Option<(u64, Arc<dyn Events>)> {
        let table = self.lock();
        let mut calls = table.calls.iter().filter(|(_, entry)| !entry.standing);
        match (calls.next(), calls.next()) {
            (Some((id, entry)), None) => Some((*id, Arc::clone(&entry.events))),
            _ => None,
        }
    }

    /// How many calls are in flight, subscriptions not counted.
    pub(crate) fn len(&self) -> usize {
        self.lock().calls.values().filter(|entry| !entry.standing).count()
    }

    /// Notes a server request as open; `false` if it has too many, or one of this id already.
    pub(crate) fn ask(&self, id: &str, call: Option<u64>) -> bool {
        let mut table = self.lock();
        if table.asked.len() >= MAX_ASKED || table.asked.contains_key(id) {
            return false;
        }
        table.asked.insert(id.to_owned(), call);
        true
    }

    /// Forgets a server request, answered or withdrawn.
    pub(crate) fn answered(&self, id: &str) {
        self.lock().asked.remove(id);
    }

    /// Whom an open server request went to: `None` if it is not open, `Some(None)` if it was the listener.
    pub(crate) fn asked_of(&self, id: &str) -> Option<Option<Arc<dyn Events>>> {
        let table = self.lock();
        let call = table.asked.get(id)?;
        Some(
            call.and_then(|call| table.calls.get(&call))
                .map(|entry| Arc::clone(&entry.events)),
        )
    }

    /// Fails every call and refuses new ones; `false` if that was done before.
    pub(crate) fn close(&self, reason: &Arc<str>) -> bool {
        let calls = {
            let mut table = self.lock();
            if std::mem::replace(&mut table.drained, true) {
                return false;
            }
            table.closed.get_or_insert_with(|| Arc::clone(reason));
            table.asked.clear();
            std::mem::take(&mut table.calls)
        };
        for entry in calls.into_values() {
            let closed = RequestError::Closed {
                reason: reason.to_string(),
                sent: true,
            };
            // A caller that went away needs no answer.
            drop(entry.answer.send(Err(closed)));
        }
        true
    }

    /// Refuses new calls; those in flight may finish.
    pub(crate) fn refuse(&self, reason: &Arc<str>) {
        self.lock().closed.get_or_insert_with(|| Arc::clone(reason));
    }

    /// Why the session is over, once it is.
    pub(crate) fn closed(&self) -> Option<Arc<str>> {
        self.lock().closed.clone()
    }

    /// A poisoned table is still a table: no invariant spans two statements.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
