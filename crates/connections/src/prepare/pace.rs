//! How soon a server's news of changed lists is acted on: servers that cry wolf are asked less and less often.

use std::time::Duration;

use crate::Limits;

/// The pace of one connection.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// A reading is already going to happen.
    pending: bool,
    /// Readings in a row that found nothing new.
    vain: u32,
}

impl Pace {
    /// News came: how long to gather further news before the lists are read, if a reading is to be started.
    pub(super) fn news(&mut self, limits: &Limits) -> Option<Duration> {
        if self.pending {
            return None;
        }
        self.pending = true;
        let doubled = 1_u32.checked_shl(self.vain.min(20)).unwrap_or(u32::MAX);
        Some(limits.settle.saturating_mul(doubled).min(limits.backoff_max))
    }

    /// The gathering is over: further news is for the next reading.
    pub(super) fn reading(&mut self) {
        self.pending = false;
    }

    /// A reading because of news is done.
    pub(super) fn read(&mut self, found_news: bool) {
        self.vain = if found_news {
            0
        } else {
            self.vain.saturating_add(1)
        };
    }
}
