//! The access token of one account, at hand for every request.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use domain::{Connection, Secret, Tenant, Timestamp};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use mcp::{TokenError, TokenSource};
use tokio::sync::oneshot;

use crate::connections::Inner;
use crate::pool::lock;

/// A token that lapses sooner than this is not sent any more: it could lapse on its way.
pub(super) const SPARE: Duration = Duration::from_secs(30);
/// How long before it lapses a token is renewed, at the least and at the most; in between a fifth of the time it had left when this process
/// got to know it.
const AHEAD: (Duration, Duration) = (Duration::from_secs(45), Duration::from_secs(300));

/// The tokens of one account, as one set of settings uses them. A later sign-in may be another account, whose tokens these never are.
pub(crate) struct Tokens {
    pub(super) inner: Weak<Inner>,
    pub(super) tenant: Tenant,
    pub(super) connection: Connection,
    /// How many sign-ins there were when the settings were read.
    pub(super) sign_ins: u64,
    held: ArcSwapOption<Held>,
    renewing: Mutex<Option<Renewing>>,
}

type Renewing = Shared<BoxFuture<'static, Result<Arc<Held>, TokenError>>>;

/// A token at hand.
pub(super) struct Held {
    pub(super) generation: u64,
    access: Secret,
    lapses: Option<Timestamp>,
    renew: Option<Timestamp>,
}

impl Held {
    pub(super) fn new(generation: u64, access: Secret, lapses: Option<Timestamp>, now: Timestamp) -> Self {
        let ahead = lapses.map(|at| at.since(now).div_f64(5.0).clamp(AHEAD.0, AHEAD.1));
        Self {
            generation,
            access,
            lapses,
            renew: lapses
                .zip(ahead)
                .map(|(at, ahead)| Timestamp::from_micros(at.micros() - micros(ahead))),
        }
    }

    fn good(&self, now: Timestamp) -> bool {
        good(self.lapses, now)
    }
}

/// Whether a token that lapses then can still be sent.
pub(super) fn good(lapses: Option<Timestamp>, now: Timestamp) -> bool {
    lapses.is_none_or(|at| at > now.plus(SPARE))
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

impl Tokens {
    pub(crate) fn new(
        inner: Weak<Inner>,
        tenant: Tenant,
        connection: Connection,
        sign_ins: u64,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner,
            tenant,
            connection,
            sign_ins,
            held: ArcSwapOption::empty(),
            renewing: Mutex::default(),
        })
    }

    /// The number of the token that requests are sent with now; 0 before the first.
    pub(crate) fn generation(&self) -> u64 {
        self.held.load().as_ref().map_or(0, |held| held.generation)
    }

    /// The token that requests are sent with now, for taking it out of texts.
    pub(crate) fn secret(&self) -> Option<Secret> {
        self.held.load().as_ref().map(|held| held.access.clone())
    }

    /// The server refused the token of this number (0: the first one): gets another, once for all who say so.
    ///
    /// # Errors
    /// There is none.
    pub(crate) async fn replace(self: &Arc<Self>, refused: u64) -> Result<(), TokenError> {
        let now = self.generation();
        // Before the first request there was none to name: then it was the one that is at hand now.
        if refused != 0 && refused != now {
            return Ok(());
        }
        self.next(Some(now)).await.map(|_| ())
    }

    /// The token after that of this number, or any good one: whoever comes first gets it, in a task that goes on when whoever waits leaves,
    /// because what a refresh token was spent for must not be lost.
    fn next(self: &Arc<Self>, stale: Option<u64>) -> Renewing {
        let mut renewing = lock(&self.renewing);
        if let Some(running) = renewing.as_ref().filter(|running| running.peek().is_none()) {
            return running.clone();
        }
        let (done, got) = oneshot::channel();
        let started = async move { got.await.unwrap_or_else(|_| Err(stopping())) }
            .boxed()
            .shared();
        let Some(inner) = self.inner.upgrade() else {
            return started;
        };
        let tokens = self.clone();
        let task = async move {
            let Some(inner) = tokens.inner.upgrade() else {
                return;
            };
            let outcome = inner.renew(&tokens, stale).await.map(Arc::new);
            if let Ok(held) = &outcome {
                tokens.held.store(Some(held.clone()));
            }
            // Nobody may be waiting any more.
            drop(done.send(outcome));
        };
        inner.tasks.spawn_on(task, &inner.runtime);
        *renewing = Some(started.clone());
        started
    }
}

fn stopping() -> TokenError {
    TokenError::Later("the server stops".to_owned())
}

/// What requests are sent with.
pub(crate) struct Source(pub(crate) Arc<Tokens>);

impl TokenSource for Source {
    fn token(&self) -> BoxFuture<'_, Result<Secret, TokenError>> {
        let Some(inner) = self.0.inner.upgrade() else {
            return futures::future::ready(Err(stopping())).boxed();
        };
        let now = inner.clock.now();
        match self.0.held.load_full() {
            Some(held) if held.good(now) => {
                if held.renew.is_some_and(|at| at <= now) {
                    // In the background: this one is good for a while.
                    drop(self.0.next(Some(held.generation)));
                }
                futures::future::ready(Ok(held.access.clone())).boxed()
            }
            Some(_) | None => {
                let next = self.0.next(None);
                async move { next.await.map(|held| held.access.clone()) }.boxed()
            }
        }
    }
}
