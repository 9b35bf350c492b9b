//! From facts to the effective policy.

use std::sync::Arc;

use domain::Snapshot;

use crate::Facts;

/// The effective policy of one run: its snapshot, and what is left of the rules per tool.
#[derive(Debug, Clone)]
pub struct Effective {
    snapshot: Arc<Snapshot>,
}

impl Effective {
    /// The snapshot.
    #[must_use]
    pub const fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }
}

/// Composes the effective policy. Total: every tool is in the snapshot once, as there or as absent with its one reason. The order
/// of the facts does not matter.
#[must_use]
pub fn compose(facts: &Facts<'_>) -> Effective {
    let _ = facts;
    todo!()
}
