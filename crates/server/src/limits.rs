//! How fast a key may ask.

use std::num::NonZeroU32;
use std::time::Duration;

use domain::KeyId;
use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

/// Per-key rates.
pub(crate) struct Limits {
    per_key: RateLimiter<KeyId, DashMapStateStore<KeyId>, DefaultClock>,
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
            clock,
        }
    }

    /// Lets a request of this key through, or says how long to wait.
    pub(crate) fn admit(&self, key: KeyId) -> Result<(), Duration> {
        self.per_key
            .check_key(&key)
            .map_err(|not_until| not_until.wait_time_from(self.clock.now()))
    }
}
