//! How fast a credential may ask, and how fast clients may register.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::DashMapStateStore;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use uuid::Uuid;

/// Registrations a second, and how many may come at once.
const REGISTRATIONS: (NonZeroU32, NonZeroU32) = (
    NonZeroU32::MIN.saturating_add(4),
    NonZeroU32::MIN.saturating_add(49),
);

/// The rates.
pub(crate) struct Limits {
    /// By the id of a key, or of the consent a client acts by.
    per_key: RateLimiter<Uuid, DashMapStateStore<Uuid>, DefaultClock>,
    registrations: DefaultDirectRateLimiter,
    /// Made once: making one asks the processor what it is, which costs microseconds where there is a hypervisor.
    clock: DefaultClock,
}

impl Limits {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        let per_second = NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN);
        let burst = NonZeroU32::new(burst).unwrap_or(per_second);
        let clock = DefaultClock::default();
        let quota = Quota::per_second(per_second).allow_burst(burst);
        Self {
            per_key: RateLimiter::dashmap_with_clock(quota, clock.clone()),
            registrations: RateLimiter::direct(
                Quota::per_second(REGISTRATIONS.0).allow_burst(REGISTRATIONS.1),
            ),
            clock,
        }
    }

    /// Lets a client register, or does not.
    pub(crate) fn admit_registration(&self) -> Result<(), ()> {
        self.registrations.check().map_err(|_| ())
    }

    /// Lets a request of this credential through, or says how long to wait.
    pub(crate) fn admit(&self, key: Uuid) -> Result<(), Duration> {
        self.per_key
            .check_key(&key)
            .map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }
}
