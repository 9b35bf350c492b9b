//! What a process holds: tasks, children, descriptors, memory.

use std::time::Duration;

/// Counts at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) tasks: usize,
    pub(super) processes: usize,
    pub(super) descriptors: usize,
}

impl Counts {
    pub(super) fn now() -> Self {
        Self {
            tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
            processes: children().len(),
            descriptors: std::fs::read_dir("/proc/self/fd").unwrap().count(),
        }
    }

    /// Waits until nothing more is held than this, at most for twenty seconds.
    pub(super) async fn are_restored(self) -> Self {
        for _ in 0..400 {
            let now = Self::now();
            if now.tasks <= self.tasks
                && now.processes <= self.processes
                && now.descriptors <= self.descriptors
            {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!(
            "{:?} is left, of {:?}; children: {:?}",
            Self::now(),
            self,
            children()
        );
    }
}

/// Counts that have stopped falling.
pub(super) async fn settled() -> Counts {
    let mut before = Counts::now();
    loop {
        tokio::time::sleep(Duration::from_millis(700)).await;
        let now = Counts::now();
        if now == before {
            return now;
        }
        before = now;
    }
}

/// Our children, collected or not.
pub(super) fn children() -> Vec<u64> {
    let own = u64::from(std::process::id());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|pid| parent(*pid) == Some(own)).collect()
}

fn parent(pid: u64) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may hold anything, brackets included.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// Whether a process is there and not merely waiting to be collected.
pub(super) fn alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z")
}

/// Memory that is ours alone, in KiB.
pub(super) fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Waits, not for ever, until something is so.
pub(super) async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    for _ in 0..1_000 {
        if so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}");
}
