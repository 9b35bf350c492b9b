//! How long a call may take, where time spent waiting for the client does not count.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The clock of one call. It stands while somebody holds a [`Standing`], all in all for no longer than allowed.
#[derive(Debug)]
pub struct Patience {
    state: Mutex<State>,
    moved: Notify,
}

impl Patience {
    /// A clock that runs until the deadline, and may stand for so long.
    #[must_use]
    pub fn new(deadline: Instant, longest: Duration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                deadline,
                left: longest,
                holders: 0,
                since: deadline,
            }),
            moved: Notify::new(),
        })
    }

    /// Lets the clock stand for as long as the token lives.
    #[must_use]
    pub fn stand(self: &Arc<Self>) -> Standing {
        self.lock().stand(Instant::now());
        self.moved.notify_waiters();
        Standing(Arc::clone(self))
    }

    /// When the call is given up at the latest, however long it stands.
    #[must_use]
    pub fn latest(&self) -> Instant {
        let state = self.lock();
        state.deadline + state.left
    }

    /// Ready when the time is over.
    pub(crate) async fn over(&self) {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            // Listens before it looks, so that nothing falls in between.
            moved.as_mut().enable();
            let ends = self.lock().ends();
            tokio::select! {
                () = sleep_until(ends) => return,
                () = moved => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives the clock of a call stands.
#[derive(Debug)]
pub struct Standing(Arc<Patience>);

impl Drop for Standing {
    fn drop(&mut self) {
        self.0.lock().go_on(Instant::now());
        self.0.moved.notify_waiters();
    }
}

#[derive(Debug)]
struct State {
    /// When the call is given up, were the clock not to stand from now on.
    deadline: Instant,
    /// How much longer it may stand.
    left: Duration,
    /// How many let it stand, and since when.
    holders: usize,
    since: Instant,
}

impl State {
    fn stand(&mut self, now: Instant) {
        if self.holders == 0 {
            self.since = now;
        }
        self.holders += 1;
    }

    fn go_on(&mut self, now: Instant) {
        self.holders = self.holders.saturating_sub(1);
        if self.holders == 0 {
            let stood = now.duration_since(self.since).min(self.left);
            self.deadline += stood;
            self.left -= stood;
        }
    }

    fn ends(&self) -> Instant {
        match self.holders {
            0 => self.deadline,
            _ => self.deadline + self.left,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::State;

    #[test]
    fn the_clock_stands_while_somebody_holds_it_and_no_longer_than_allowed() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut state = State {
            deadline: at(10),
            left: Duration::from_secs(100),
            holders: 0,
            since: start,
        };
        state.stand(at(4));
        state.stand(at(5));
        assert_eq!(state.ends(), at(110));
        state.go_on(at(34));
        assert_eq!(state.ends(), at(110), "the other one holds it");
        state.go_on(at(44));
        assert_eq!(state.ends(), at(50), "forty seconds did not count");
        state.stand(at(49));
        assert_eq!(state.ends(), at(110));
        state.go_on(at(300));
        assert_eq!(state.ends(), at(110), "more is not allowed");
    }
}
