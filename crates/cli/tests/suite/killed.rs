//! What is left of a server that is killed: nothing.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use crate::house::{House, is_alive, until};

/// A server with a child that stays when its input ends and when it is asked to end, and a grandchild.
struct Family {
    house: House,
    child: u32,
    grandchild: u32,
    reaper: u32,
    _folder: tempfile::TempDir,
}

impl Family {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let program = testkit::program::program("scripted-child").unwrap();
        let command = [
            program.to_str().unwrap(),
            "--ignore-eof",
            "--ignore-sigterm",
            "--pid-file",
            &file("child"),
            "--grandchild",
            &file("grandchild"),
        ];
        let config = format!("[[connections]]\nname = \"stubborn\"\ncommand = {command:?}\n");
        fs::write(file("config.toml"), config).unwrap();
        let house = House::start(&["--no-sample", "--config", &file("config.toml")]);
        let number = |name: &str| {
            let path = file(name);
            until("it starts", || {
                let text = fs::read_to_string(&path).unwrap_or_default();
                text.ends_with('\n')
                    .then(|| text.lines().next().unwrap().parse().unwrap())
            })
        };
        let (child, grandchild) = (number("child"), number("grandchild"));
        let reaper = reaper(&house);
        Self {
            house,
            child,
            grandchild,
            reaper,
            _folder: folder,
        }
    }

    fn gone(&self) -> bool {
        ![self.child, self.grandchild, self.reaper]
            .into_iter()
            .any(is_alive)
    }
}

/// The process that ends children of a killed server.
fn reaper(house: &House) -> u32 {
    let is_one = |id: &u32| read(*id, "cmdline").ends_with("\0reap\0");
    until("a reaper runs", || house.descendants().into_iter().find(is_one))
}

fn read(process: u32, file: &str) -> String {
    let bytes = fs::read(Path::new("/proc").join(process.to_string()).join(file)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a process has open.
fn open(process: u32) -> HashSet<String> {
    let folder = fs::read_dir(Path::new("/proc").join(process.to_string()).join("fd")).unwrap();
    let targets = folder.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    targets
        .map(|target| target.to_str().unwrap().to_owned())
        .collect()
}

/// Whether a process handles HUP, INT, QUIT and TERM itself; before, they end it.
fn keeps_off(process: u32) -> bool {
    const ALL: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14;
    let status = read(process, "status");
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & ALL == ALL)
}

fn signal(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process.try_into().unwrap()).unwrap(), signal).unwrap();
}

// X012
#[test]
fn a_killed_server_leaves_no_process_behind() {
    // What whoever runs the tests passes on to everybody.
    let inherited = open(std::process::id());
    let mut family = Family::start();
    let reaper = family.reaper;
    let shared: Vec<String> = open(reaper)
        .intersection(&open(family.house.id()))
        .filter(|target| !target.starts_with("anon_inode:") && *target != "/dev/null")
        .filter(|target| !inherited.contains(*target))
        .cloned()
        .collect();
    assert!(
        matches!(shared.as_slice(), [pipe] if pipe.starts_with("pipe:")),
        "its input is all it has of the server's: {shared:?}"
    );
    assert_eq!(read(reaper, "environ"), "");
    until("it keeps signals off", || keeps_off(reaper).then_some(()));
    for ignored in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        signal(reaper, ignored);
    }
    family.house.kill();
    until("all are gone", || family.gone().then_some(()));
}

#[test]
fn a_reaper_that_dies_is_replaced_by_one_that_knows_as_much() {
    let mut family = Family::start();
    let first = family.reaper;
    signal(first, Signal::KILL);
    family.reaper = until("another runs", || {
        Some(reaper(&family.house)).filter(|next| *next != first)
    });
    // It is told of the group right after it was started; a connection used once more shows that this is over.
    let tested = family.house.run(&["connections", "test", "stubborn"]);
    assert_eq!(tested.code, 0, "{tested:?}");
    family.house.kill();
    until("all are gone", || family.gone().then_some(()));
}
