//! How often somebody may try a password: a few times at once, then one by one; nobody is locked out for good.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

/// Tries at once.
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);
/// One more try of one address after so long.
const PER_ADDRESS: Duration = Duration::from_secs(30);
/// Counts tries by e-mail address, known or not. How many are looked at together is bounded where they are hashed.
pub struct Throttle {
    by_email: RateLimiter<String, DashMapStateStore<String>, DefaultClock>,
    clock: DefaultClock,
}

impl Default for Throttle {
    fn default() -> Self {
        let clock = DefaultClock::default();
        let slow = Quota::with_period(PER_ADDRESS).unwrap_or_else(|| Quota::per_minute(BURST));
        Self {
            by_email: RateLimiter::dashmap_with_clock(slow.allow_burst(BURST), clock.clone()),
            clock,
        }
    }
}

impl Throttle {
    /// Lets a try through.
    ///
    /// # Errors
    /// How long to wait.
    pub fn admit(&self, email: &str) -> Result<(), Duration> {
        let now = self.clock.now();
        let admitted = self.by_email.check_key(&email.to_lowercase());
        admitted.map_err(|not_until| not_until.wait_time_from(now))
    }

    /// Forgets addresses that were not tried of late. Called now and then, or strangers' addresses would fill the memory.
    pub fn tidy(&self) {
        self.by_email.retain_recent();
        self.by_email.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::Throttle;

    #[test]
    fn five_tries_at_once_and_then_one_after_the_other() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            throttle.admit("Ada@example.com").unwrap();
        }
        let wait = throttle.admit("ada@EXAMPLE.com").unwrap_err();
        assert!((1..=30).contains(&wait.as_secs()), "{wait:?}");
        throttle.admit("grace@example.com").unwrap();
    }
}
