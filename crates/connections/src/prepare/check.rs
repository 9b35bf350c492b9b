//! Looking at servers nobody calls: one that has gone away, or that takes our credential no more, shows before somebody needs it.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::pool::lock;

/// When a connection is looked at next.
#[derive(Debug, Default)]
pub(crate) struct Check {
    due: Mutex<Option<Instant>>,
}

impl Check {
    /// It was looked at just now: again after about `every`, which is spread by `seed` so that what was looked at together is not looked at
    /// together again.
    pub(super) fn looked(&self, seed: u128, every: Duration, now: Instant) {
        *lock(&self.due) = now.checked_add(jittered(every, seed));
    }

    /// Whether its time has come. Says so once.
    pub(crate) fn due(&self, now: Instant) -> bool {
        lock(&self.due).take_if(|due| *due <= now).is_some()
    }
}

/// Between three quarters of a time and five.
fn jittered(every: Duration, seed: u128) -> Duration {
    let share = f64::from(u32::try_from(seed % 1_000).unwrap_or(0)) / 2_000.0;
    every.mul_f64(0.75 + share)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::jittered;

    #[test]
    fn spread() {
        let minute = Duration::from_secs(60);
        for (bits, expected) in [
            (0, 45_000),
            (500, 60_000),
            (999, 74_970),
            (1_000, 45_000),
            (u128::MAX, 0),
        ] {
            let found = jittered(minute, bits);
            assert!((45..75).contains(&found.as_secs()), "{bits}: {found:?}");
            if expected > 0 {
                assert_eq!(found.as_millis(), expected, "{bits}");
            }
        }
    }
}
