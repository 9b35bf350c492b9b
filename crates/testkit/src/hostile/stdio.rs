//! A script played by a child process. Each message is answered on a thread of its own, so that nothing holds up the reading.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::Script;
use super::script::{Counts, Played};

/// Plays the script in this file, which is read again for every message, until standard input ends. Where there is no file, the child
/// behaves. `heard` is given the method of every message before it is answered.
///
/// # Errors
///
/// If standard input fails.
pub(crate) fn serve(script: &Path, heard: impl Fn(&str) -> std::io::Result<()>) -> std::io::Result<()> {
    let counts = Arc::new(Counts::default());
    for line in stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?).unwrap_or_default();
        let Some(method) = message["method"].as_str() else {
            continue;
        };
        heard(method)?;
        let text = std::fs::read(script).unwrap_or_default();
        let script: Script = serde_json::from_slice(&text).unwrap_or_default();
        let played = script.play(&message, counts.another(method), false);
        std::thread::spawn(move || play(&played));
    }
    Ok(())
}

fn play(played: &[Played]) {
    for one in played {
        let written = match one {
            Played::Message(bytes) => write(bytes, b"\n"),
            Played::Part(bytes) => write(bytes, b""),
            Played::Comment => write(b"", b"\n"),
            Played::Pause(pause) => {
                std::thread::sleep(*pause);
                Ok(())
            }
            Played::Hang => return,
            Played::End => std::process::exit(i32::from(crate::child::CRASHED)),
        };
        // Nobody reads any more.
        if written.is_err() {
            return;
        }
    }
}

fn write(bytes: &[u8], end: &[u8]) -> std::io::Result<()> {
    let mut output = stdout().lock();
    output.write_all(bytes)?;
    output.write_all(end)?;
    output.flush()
}
