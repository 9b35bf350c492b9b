//! The reaper's process on real groups, and that whoever plays it always knows which groups live.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::Reaper;
use super::process::follow;

const SHORT: [(Duration, Signal); 2] = [
    (Duration::from_millis(50), Signal::TERM),
    (Duration::from_millis(50), Signal::KILL),
];

/// A group of two, which a shell that ignores SIGTERM leads.
fn group() -> (Child, Pid) {
    let mut command = Command::new("/bin/sh");
    let child = command
        .args(["-c", "trap '' TERM; sleep 600 & wait; wait"])
        .process_group(0)
        .spawn()
        .unwrap();
    let leader = Pid::from_child(&child);
    (child, leader)
}

#[test]
fn what_is_listed_at_the_end_is_ended() {
    let mut groups: Vec<_> = (0..3).map(|_| group()).collect();
    let [kept, removed, cut] = [0, 1, 2].map(|place: usize| groups[place].1.as_raw_nonzero());
    let input =
        format!("+{kept}\n+{removed}\nnonsense\n+0\n+1\n+-1\n-{removed}\n-4000000\n*{removed}\n+{cut}");
    follow(input.as_bytes(), &SHORT);
    assert!(groups[0].0.wait().unwrap().code().is_none(), "it was signalled");
    for (child, _) in &mut groups[1..] {
        assert!(child.try_wait().unwrap().is_none(), "it was not listed");
    }
    let rest: String = groups[1..]
        .iter()
        .map(|(_, leader)| format!("+{}\n", leader.as_raw_nonzero()))
        .collect();
    follow(rest.as_bytes(), &SHORT);
    for (child, _) in &mut groups[1..] {
        assert!(child.wait().unwrap().code().is_none());
    }
}

/// A reaper that writes down what it is told: one file for each of its processes, named by its id.
struct Recorder {
    folder: TempDir,
    reaper: Reaper,
}

impl Recorder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let record = format!("exec cat > {}/$$", folder.path().display());
        let reaper = Reaper::new(["/bin/sh", "-c", &record]);
        Self { folder, reaper }
    }

    fn processes(&self) -> Vec<i32> {
        let names = std::fs::read_dir(self.folder.path()).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap().parse().unwrap())
            .collect()
    }

    fn told(&self, process: i32) -> String {
        std::fs::read_to_string(Path::new(self.folder.path()).join(process.to_string())).unwrap()
    }

    /// The process beside those known, once it has been told this.
    async fn told_next(&self, known: &[i32], wanted: &str) -> i32 {
        loop {
            let next = self
                .processes()
                .into_iter()
                .find(|process| !known.contains(process));
            if let Some(process) = next.filter(|process| self.told(*process) == wanted) {
                return process;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn number(group: i32) -> Pid {
    Pid::from_raw(group).unwrap()
}

fn signal(process: i32, signal: Signal) {
    kill_process(number(process), signal).unwrap();
}

#[tokio::test]
async fn it_is_told_of_every_group_and_so_is_its_successor() {
    let recorder = Recorder::new();
    recorder.reaper.ready();
    for group in [100_001, 100_002, 100_003] {
        recorder.reaper.add(number(group));
    }
    recorder.reaper.remove(number(100_002));
    let first = recorder
        .told_next(&[], "+100001\n+100002\n+100003\n-100002\n")
        .await;

    signal(first, Signal::KILL);
    let second = recorder.told_next(&[first], "+100001\n+100003\n").await;
    recorder.reaper.remove(number(100_001));
    recorder.told_next(&[first], "+100001\n+100003\n-100001\n").await;
    recorder.reaper.close(Duration::from_secs(20)).await;
    assert!(!recorder.reaper.is_running());
    assert!(kill_process(number(second), Signal::CONT).is_err(), "it is gone");
}

#[tokio::test]
async fn one_that_takes_nothing_is_replaced_while_its_pipe_is_open() {
    let recorder = Recorder::new();
    recorder.reaper.ready();
    recorder.reaper.add(number(100_001));
    let first = recorder.told_next(&[], "+100001\n").await;
    signal(first, Signal::STOP);
    // More than a pipe holds.
    for _ in 0..10_000 {
        recorder.reaper.add(number(100_002));
        recorder.reaper.remove(number(100_002));
    }
    recorder.told_next(&[first], "+100001\n").await;
}

#[tokio::test]
async fn without_one_everything_else_works() {
    for command in [&["/nonexistent/reaper"][..], &["/bin/sh", "-c", "exit 3"], &[]] {
        let reaper = Reaper::new(command.iter().copied());
        reaper.ready();
        reaper.add(number(100_001));
        while !matches!(reaper.inner.lock().phase, super::Phase::Off) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        reaper.remove(number(100_001));
        reaper.ready();
        assert!(!reaper.is_running(), "{command:?}");
        reaper.close(Duration::from_secs(20)).await;
    }
}
