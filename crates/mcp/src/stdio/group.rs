//! The process group of a child: what is signalled, so that no grandchild survives.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};

/// A child's process group. Dropping it kills what is left of the group.
pub(crate) struct Group {
    leader: Pid,
    /// Set once the group was killed after its leader was reaped; the number may then be given to somebody else.
    gone: AtomicBool,
}

impl Group {
    pub(crate) const fn new(leader: Pid) -> Self {
        Self {
            leader,
            gone: AtomicBool::new(false),
        }
    }

    /// Signals every process of the group.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.gone.load(Ordering::Acquire) {
            return;
        }
        if let Err(error) = kill_process_group(self.leader, signal)
            && error != rustix::io::Errno::SRCH
        {
            tracing::debug!(%error, "a child's process group could not be signalled");
        }
    }

    /// Kills what is left and never signals again.
    pub(crate) fn finish(&self) {
        self.signal(Signal::KILL);
        self.gone.store(true, Ordering::Release);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.finish();
    }
}
