//! The end of a child, seen before it is collected.

use std::os::fd::OwnedFd;

use rustix::process::Pid;
use tokio::io::unix::AsyncFd;
use tokio::process::Child;

/// Tells when a child has ended, without collecting it where the system can: until it is collected its number, and with it its group's,
/// cannot become another's.
pub(super) struct Exit(Option<AsyncFd<OwnedFd>>);

impl Exit {
    /// Watches a child that is not collected yet.
    #[expect(
        deprecated,
        reason = "what takes its place is unsafe, for the sake of types that are not what they say; an OwnedFd is"
    )]
    pub(super) fn of(leader: Pid) -> Self {
        Self(descriptor(leader).and_then(|fd| AsyncFd::new(fd).ok()))
    }

    /// Waits for the end.
    pub(super) async fn happened(&self, child: &mut Child) {
        match &self.0 {
            // Once readable, always readable: it is never cleared.
            Some(watched) => drop(watched.readable().await),
            None => drop(child.wait().await),
        }
    }
}

#[cfg(target_os = "linux")]
fn descriptor(leader: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(leader, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn descriptor(_: Pid) -> Option<OwnedFd> {
    None
}
