//! Calls of modern clients that wait for input: the upstream asked in the middle of the call, the client answers in its next request
//! (2026-07-28, MRTR). Bounded in number and time; each is spent by the first request that names it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::Principal;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::ears::Wish;
use super::flight::Flight;
use super::seal::random;
use super::wire::{Members, push_text};

/// Calls that wait, of one principal.
const PER_PRINCIPAL: usize = 32;
/// Calls that wait, in all.
const TOTAL: usize = 1_024;

/// A call that waits, and what for.
pub(super) struct Waiting {
    pub(super) flight: Flight,
    /// What the upstream wants, by the key in `inputRequests`.
    pub(super) wishes: Vec<(String, Wish)>,
}

impl Waiting {
    /// What the client is asked: an `inputRequests` object.
    pub(super) fn requests(&self) -> String {
        let mut out = String::from("{");
        for (key, wish) in &self.wishes {
            if out.len() > 1 {
                out.push(',');
            }
            push_text(&mut out, key);
            out.push_str(r#":{"method":"#);
            push_text(&mut out, &wish.method);
            if let Some(params) = &wish.params {
                out.push_str(r#","params":"#);
                out.push_str(params.get());
            }
            out.push('}');
        }
        out.push('}');
        out
    }

    /// Hands the client's answers to the upstream. What it left out stays wished for.
    pub(super) fn answer(&mut self, responses: Option<&RawValue>) {
        let responses = responses.and_then(Members::read).unwrap_or_default();
        for (key, wish) in std::mem::take(&mut self.wishes) {
            match responses.get(&key) {
                Some(answer) => (wish.responder)(Ok(answer.to_owned())),
                None => self.wishes.push((key, wish)),
            }
        }
    }
}

type Handover = oneshot::Sender<Waiting>;

/// All calls that wait.
#[derive(Clone, Default)]
pub(super) struct Parked {
    table: Arc<Mutex<HashMap<[u8; 16], Entry>>>,
}

struct Entry {
    owner: Principal,
    claim: oneshot::Sender<Handover>,
}

impl Parked {
    /// Lets a call wait; its id. Given back where too many wait already.
    pub(super) fn put(
        &self,
        owner: Principal,
        (waiting, longest): (Waiting, Duration),
    ) -> Result<[u8; 16], Box<Waiting>> {
        let Some(id) = random() else {
            return Err(Box::new(waiting));
        };
        let (claim, claimed) = oneshot::channel();
        {
            let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
            let theirs = table.values().filter(|entry| entry.owner == owner).count();
            if theirs >= PER_PRINCIPAL || table.len() >= TOTAL {
                return Err(Box::new(waiting));
            }
            table.insert(id, Entry { owner, claim });
        }
        let until = Instant::now() + longest;
        tokio::spawn(keep(self.clone(), (id, until), waiting, claimed));
        Ok(id)
    }

    /// Takes a call back, once.
    pub(super) async fn take(&self, id: [u8; 16]) -> Option<Waiting> {
        let entry = self.remove(id)?;
        let (handover, waiting) = oneshot::channel();
        entry.claim.send(handover).ok()?;
        waiting.await.ok()
    }

    /// Lets go of the calls of these principals.
    pub(super) fn drop_where(&self, which: impl Fn(&Principal) -> bool) {
        let gone: Vec<Entry> = {
            let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
            table
                .extract_if(|_, entry| which(&entry.owner))
                .map(|(_, entry)| entry)
                .collect()
        };
        // Whoever keeps the calls hears that nobody will claim them; not under the lock.
        drop(gone);
    }

    fn remove(&self, id: [u8; 16]) -> Option<Entry> {
        self.table
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id)
    }
}

/// Drives a call that waits, which may end meanwhile; its upstream is let go in time.
async fn keep(
    parked: Parked,
    (id, until): ([u8; 16], Instant),
    mut waiting: Waiting,
    mut claimed: oneshot::Receiver<Handover>,
) {
    let mut landed = false;
    loop {
        tokio::select! {
            biased;
            handover = &mut claimed => {
                if let Ok(handover) = handover {
                    // Whoever claimed it may be gone already.
                    drop(handover.send(waiting));
                }
                return;
            }
            () = waiting.flight.land(), if !landed => landed = true,
            () = sleep_until(until) => {
                parked.remove(id);
                return;
            }
        }
    }
}
