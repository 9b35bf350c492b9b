//! Wall-clock time, from one source that tests can hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time this many microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This time plus a duration; the end of time rather than an overflow.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)),
        )
    }

    /// Time from `earlier` to this one; zero when the clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Where wall-clock time comes from. Deadlines inside the process use monotonic time instead.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The operating system's clock.
    #[default]
    System,
    /// A clock that stands until a test moves it: microseconds since the epoch.
    Test(Arc<AtomicI64>),
}

impl Clock {
    /// A test clock standing at `start`.
    #[must_use]
    pub fn test(start: Timestamp) -> Self {
        Self::Test(Arc::new(AtomicI64::new(start.micros())))
    }

    /// Now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the wall clock"
    )]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => {
                let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX))
            }
            Self::Test(micros) => Timestamp(micros.load(Ordering::SeqCst)),
        }
    }

    /// Sets a test clock, also back; the system clock ignores it.
    pub fn set(&self, to: Timestamp) {
        if let Self::Test(micros) = self {
            micros.store(to.micros(), Ordering::SeqCst);
        }
    }

    /// Moves a test clock forward; the system clock ignores it.
    pub fn advance(&self, by: Duration) {
        if let Self::Test(micros) = self {
            micros.fetch_add(
                i64::try_from(by.as_micros()).unwrap_or(i64::MAX),
                Ordering::SeqCst,
            );
        }
    }
}
