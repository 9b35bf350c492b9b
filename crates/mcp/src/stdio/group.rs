//! The process group of a child: what is signalled, so that no grandchild survives.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};

use super::Reaper;

/// A child's process group. Dropping it kills what is left of the group.
pub(crate) struct Group {
    leader: Pid,
    /// Ends the group if we cannot.
    reaper: Option<Reaper>,
    /// Set once the group was killed; the number may then be given to somebody else.
    gone: AtomicBool,
}

impl Group {
    pub(crate) fn new(leader: Pid, reaper: Option<Reaper>) -> Self {
        if let Some(reaper) = &reaper {
            reaper.add(leader);
        }
        Self {
            leader,
            reaper,
            gone: AtomicBool::new(false),
        }
    }

    /// Signals every process of the group.
    pub(crate) fn signal(&self, signal: Signal) {
        if !self.gone.load(Ordering::Acquire) {
            self.send(signal);
        }
    }

    /// Kills what is left and never signals again. To be called before the leader is collected, where that can be.
    pub(crate) fn finish(&self) {
        if self.gone.swap(true, Ordering::AcqRel) {
            return;
        }
        self.send(Signal::KILL);
        if let Some(reaper) = &self.reaper {
            reaper.remove(self.leader);
        }
    }

    fn send(&self, signal: Signal) {
        if let Err(error) = kill_process_group(self.leader, signal)
            && error != rustix::io::Errno::SRCH
        {
            tracing::debug!(%error, "a child's process group could not be signalled");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.finish();
    }
}
