//! When a command that keeps ending may be started again.

use std::time::Duration;

use tokio::time::Instant;

use crate::{ConnectionError, Limits};

/// Ends in a row from which on the connection counts as failed.
pub(super) const FAILED: u32 = 3;

/// How often a command ended soon after its start, in a row.
#[derive(Debug, Default)]
pub(super) struct Rest {
    quick: u32,
    until: Option<Instant>,
}

impl Rest {
    /// Notes an end; says how many quick ones there were in a row.
    pub(super) fn ended(&mut self, lived: Duration, limits: &Limits) -> u32 {
        if lived >= limits.quick {
            *self = Self::default();
            return 0;
        }
        self.quick = self.quick.saturating_add(1);
        // The first quick end may be an accident: the next call starts it again at once.
        let wait = (self.quick > 1).then(|| limits.wait_after(self.quick - 1));
        self.until = wait.map(|wait| Instant::now() + wait);
        self.quick
    }

    /// Refuses while it is left alone.
    pub(super) fn check(&self) -> Result<(), ConnectionError> {
        match self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()))
        {
            Some(wait) if !wait.is_zero() => Err(ConnectionError::Resting {
                times: self.quick,
                wait,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Forgets all, because the settings changed or a person asks.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
