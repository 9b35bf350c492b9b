//! Slow work says that it goes on: to a person at a terminal, and to nobody else.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::house::{House, program};

/// Runs a command whose errors go to a terminal; its code, what the terminal got, and what went to standard output.
fn at_a_terminal(house: &House, line: &[&str]) -> (i32, String, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let size = rustix::termios::Winsize {
        ws_row: 24,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(theirs.as_fd(), size).unwrap();
    let mut command = program();
    command
        .args(line)
        .env("TERM", "xterm")
        .env("SWITCHBOARD_URL", &house.url)
        .env("SWITCHBOARD_API_KEY", &house.admin)
        .current_dir(house.folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(theirs);
    let child = command.spawn().unwrap();
    // Ours were copies: the terminal ends with the child.
    drop(command);
    let reading = std::thread::spawn(move || {
        let (mut shown, mut ours) = (Vec::new(), File::from(ours));
        // Linux ends a terminal that nobody holds any more with an error.
        drop(ours.read_to_end(&mut shown));
        String::from_utf8_lossy(&shown).into_owned()
    });
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().unwrap(), reading.join().unwrap(), out)
}

#[test]
fn slow_work_shows_that_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(
        &config,
        "[upstream]\nconnect_seconds = 2\n[[connections]]\nname = \"mute\"\ncommand = [\"sleep\", \"600\"]\n",
    )
    .unwrap();
    let mut house = House::start(&["--no-sample", "--config", config.to_str().unwrap()]);
    let servers = house.file(
        "mcp.json",
        r#"{"mcpServers": {"far": {"type": "http", "url": "https://mcp.example.com/mcp"}}}"#,
    );
    let data = house.data();
    let secret = house.file("secret", "hunter2");
    let set = house.run(&["vault", "set", "one", "--file", &secret, "--data", &data]);
    assert_eq!(set.code, 0, "{set:?}");
    let url = house.url.clone();
    let cases: &[(&[&str], &str)] = &[
        (&["connections", "test", "mute", "--json"], "Test a connection"),
        (&["agents", "list", "--all", "--json"], "List agents"),
        (&["connections", "import", &servers, "--url", &url], "importing"),
        (&["connections", "import", &servers, "--data", &data], "importing"),
    ];
    for (line, what) in cases {
        check(&house, line, what);
    }
    assert!(house.stop().success());
    check(
        &house,
        &["vault", "rotate", "--data", &data],
        "sealing secrets again",
    );
}

/// The terminal shows it and is left clean; what programs read holds nothing of it.
fn check(house: &House, line: &[&str], what: &str) {
    let (code, shown, out) = at_a_terminal(house, line);
    assert!(shown.contains(what), "{line:?} ({code}): {shown:?}\n{out}");
    assert!(
        !out.contains('\u{1b}') && !out.contains(what),
        "{line:?}: {out:?}"
    );
    let (_, after) = shown.rsplit_once(what).unwrap();
    assert!(
        after.contains("\u{1b}[2K"),
        "{line:?} leaves it standing: {after:?}"
    );
    let quiet = house.run(line);
    assert!(
        !quiet.err.contains(what) && !quiet.err.contains('\u{1b}'),
        "{line:?} to nobody: {quiet:?}"
    );
}
