//! Fuzzing: one target or all in turn, with inputs gathered under `.cache/fuzz`, and the renewal of those that are kept.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use clap::Args;

use crate::cargo_tools::Tool;
use crate::workspace::Workspace;
use crate::{process, say};

/// Most inputs kept of a target: a test goes through them.
const KEPT_FILES: usize = 60;
/// Most bytes of them.
const KEPT_BYTES: u64 = 100_000;
/// Longest input tried, in bytes.
const LONGEST: u32 = 4_096;

/// What to fuzz.
#[derive(Args)]
pub(crate) struct Options {
    /// A file of `fuzz/fuzz_targets` without its ending, or `all`.
    #[arg(default_value = "all")]
    target: String,
    /// How long, each.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Afterwards replace the kept inputs by the fewest that reach as much as all together.
    #[arg(long)]
    keep: bool,
}

/// Runs the targets one after the other; the first fault ends it.
///
/// # Errors
/// Says which target does not exist or found a fault; the input is under `fuzz/artifacts` then.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let all = targets(workspace)?;
    let chosen: Vec<&String> = all
        .iter()
        .filter(|target| options.target == "all" || **target == options.target)
        .collect();
    anyhow::ensure!(
        !chosen.is_empty(),
        "there is no target {}; there are {}",
        options.target,
        all.join(", ")
    );
    for target in chosen {
        let gathered = workspace.cache().join("fuzz").join(target);
        fs::create_dir_all(&gathered).with_context(|| format!("making {}", gathered.display()))?;
        let mut fuzz = cargo_fuzz(workspace, target)?;
        fuzz.arg(&gathered).arg(kept(workspace, target));
        fuzz.args(["--", "-rss_limit_mb=2048", "-timeout=10", "-print_final_stats=1"])
            .arg(format!("-max_total_time={}", options.seconds))
            .arg(format!("-max_len={LONGEST}"));
        process::run(&mut fuzz)?;
        if options.keep {
            keep(workspace, target, &gathered)?;
        }
    }
    Ok(())
}

/// Without a sanitizer: nothing here is unsafe, and inputs are tried twice as fast.
fn cargo_fuzz(workspace: &Workspace, target: &str) -> anyhow::Result<Command> {
    let mut fuzz = Tool::Fuzz.command(workspace)?;
    fuzz.args(["run", "--sanitizer", "none", target])
        .env("RUSTC_BOOTSTRAP", "1");
    Ok(fuzz)
}

fn kept(workspace: &Workspace, target: &str) -> std::path::PathBuf {
    workspace.path("fuzz/corpus").join(target)
}

fn targets(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace.path("fuzz/fuzz_targets")).context("reading fuzz/fuzz_targets")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a file's name is a person's: the fuzzer names them by 40 hexadecimal digits. Faults that were found are given names too.
fn named(name: &str) -> bool {
    name.len() != 40 || !name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Replaces the kept inputs but those that somebody gave a name. Those that reach most come first when there are too many.
fn keep(workspace: &Workspace, target: &str, gathered: &Path) -> anyhow::Result<()> {
    let (fewest, kept) = (gathered.with_extension("fewest"), kept(workspace, target));
    if fewest.exists() {
        fs::remove_dir_all(&fewest).context("emptying the folder of the fewest inputs")?;
    }
    fs::create_dir_all(&fewest).context("making the folder of the fewest inputs")?;
    let mut merge = cargo_fuzz(workspace, target)?;
    merge.arg(&fewest).arg(gathered).arg(&kept);
    process::run(merge.args(["--", "-merge=1", "-set_cover_merge=1"]))?;
    let mut inputs = Vec::new();
    for entry in fs::read_dir(&fewest)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        inputs.push((metadata.modified()?, metadata.len(), entry.path()));
    }
    // The set cover writes what reaches most first.
    inputs.sort();
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(&kept).context("reading the folder of kept inputs")? {
        let entry = entry?;
        if named(&entry.file_name().to_string_lossy()) {
            (files, bytes) = (files + 1, bytes + entry.metadata()?.len());
        } else {
            fs::remove_file(entry.path()).context("emptying the folder of kept inputs")?;
        }
    }
    for (_, length, path) in &inputs {
        if files == KEPT_FILES || bytes + length > KEPT_BYTES {
            continue;
        }
        (files, bytes) = (files + 1, bytes + length);
        let name = path.file_name().context("an input without a name")?;
        fs::copy(path, kept.join(name)).with_context(|| format!("keeping {}", path.display()))?;
    }
    say::line(format!(
        "{target}: {files} of {} inputs kept, {bytes} bytes",
        inputs.len()
    ));
    Ok(())
}
