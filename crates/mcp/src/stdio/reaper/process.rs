//! What the reaper's process does: reads which groups live, and ends them when its input ends.

use std::collections::BTreeSet;
use std::io::{self, BufRead};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::signal::unix::{SignalKind, signal};

/// After the end of the input: how long groups may take to end by themselves, and what those that did not are sent.
const STEPS: [(Duration, Signal); 2] = [
    (Duration::from_millis(500), Signal::TERM),
    (Duration::from_millis(1500), Signal::KILL),
];
/// How often is looked whether a group is gone. Short: the number of one that is gone may be given to somebody else.
const LOOK: Duration = Duration::from_millis(20);
/// Signals of a terminal and of whoever stops the server; its own end is the end of its input.
const IGNORED: [fn() -> SignalKind; 4] = [
    SignalKind::interrupt,
    SignalKind::terminate,
    SignalKind::hangup,
    SignalKind::quit,
];

/// Reads `+GROUP` and `-GROUP`, a line each, until the input ends. Then waits a moment for the groups listed to end by themselves,
/// as children do whose input ends; asks what is left to end (SIGTERM), and ends what stays (SIGKILL).
///
/// A process that left its group (setsid) is out of its reach.
///
/// # Errors
/// When signals cannot be kept off.
pub fn reap(input: impl BufRead) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let inside = runtime.enter();
    for kind in IGNORED {
        // What is registered once stays so.
        drop(signal(kind())?);
    }
    follow(input, &STEPS);
    drop(inside);
    Ok(())
}

pub(super) fn follow(mut input: impl BufRead, steps: &[(Duration, Signal)]) {
    let mut groups = BTreeSet::new();
    let mut line = Vec::new();
    // A line that was cut short would name another group.
    while matches!(input.read_until(b'\n', &mut line), Ok(read) if read > 0) && line.ends_with(b"\n") {
        note(&mut groups, &line);
        line.clear();
    }
    for (grace, signal) in steps {
        wait(&mut groups, *grace);
        groups.retain(|group| alive(*group, |group| kill_process_group(group, *signal)));
    }
}

fn note(groups: &mut BTreeSet<i32>, line: &[u8]) {
    let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
    let Some((sign, number)) = text.split_at_checked(1) else {
        return;
    };
    // 0 would be ourselves, and 1 everybody (kill(2)).
    let Some(group) = number.parse().ok().filter(|group: &i32| *group > 1) else {
        return;
    };
    match sign {
        "+" => drop(groups.insert(group)),
        "-" => drop(groups.remove(&group)),
        _ => {}
    }
}

/// Waits until all groups are gone, at most so long; forgets those that are.
fn wait(groups: &mut BTreeSet<i32>, grace: Duration) {
    let until = Instant::now() + grace;
    loop {
        groups.retain(|group| alive(*group, test_kill_process_group));
        if groups.is_empty() || Instant::now() >= until {
            return;
        }
        sleep(LOOK);
    }
}

/// Whether there is anybody in a group to whom this can be done.
fn alive(group: i32, act: impl FnOnce(Pid) -> rustix::io::Result<()>) -> bool {
    Pid::from_raw(group).is_some_and(|group| act(group).is_ok())
}
