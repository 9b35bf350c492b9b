//! The optimized binary, laid out by what a load makes it do: built with counters, put under the load of `bench/run --train`, and built
//! again with what they counted. What calls go through comes to lie together, and calls cost a quarter to a third less processor
//! time than in a plain build.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use clap::Args;

use crate::postgres::{Postgres, VARIABLE};
use crate::workspace::Workspace;
use crate::{process, say};

/// How it is built.
#[derive(Args)]
pub(crate) struct Options {
    /// Build once, without a load: half the time, and slower.
    #[arg(long)]
    plain: bool,
}

/// Builds it.
///
/// # Errors
/// Says which step failed, or what is missing.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    if options.plain {
        let mut build = process::cargo();
        build.current_dir(workspace.root());
        process::run(build.args(["build", "--release", "-p", "switchboard-cli"]))?;
        say::line("target/release/switchboard");
        return Ok(());
    }
    let host = host()?;
    let mergers = mergers(&host)?;
    let folder = workspace.path("target/guided");
    let (counts, profile) = (folder.join("counts"), folder.join("switchboard.profdata"));
    if counts.exists() {
        fs::remove_dir_all(&counts).context("emptying the folder of counts")?;
    }
    fs::create_dir_all(&counts).context("making the folder of counts")?;
    let counting = format!("-Cprofile-generate={}", counts.display());
    let counted = build(workspace, &host, &folder.join("counting"), &counting)?;
    train(workspace, &counted)?;
    merge(&mergers, &counts, &profile)?;
    let using = format!("-Cprofile-use={}", profile.display());
    let built = build(workspace, &host, &folder.join("using"), &using)?;
    let kept = folder.join("switchboard");
    fs::copy(&built, &kept).with_context(|| format!("copying {}", built.display()))?;
    say::line("target/guided/switchboard");
    Ok(())
}

/// Builds with flags that are not meant for build scripts, which is why the target is named; returns the binary.
fn build(workspace: &Workspace, host: &str, target: &Path, flags: &str) -> anyhow::Result<PathBuf> {
    let mut build = process::cargo();
    build
        .current_dir(workspace.root())
        .args(["build", "--release", "-p", "switchboard-cli", "--target", host])
        .env("CARGO_TARGET_DIR", target)
        .env("RUSTFLAGS", flags);
    say::step(flags);
    process::run(&mut build)?;
    Ok(target.join(host).join("release/switchboard"))
}

/// The load: calls of every kind on both databases, over HTTP and stdio. Without PostgreSQL its half is left out.
fn train(workspace: &Workspace, binary: &Path) -> anyhow::Result<()> {
    let postgres = Postgres::for_tests(workspace)
        .inspect_err(|error| say::problem(&format!("trained without PostgreSQL: {error:#}")))
        .ok();
    let mut load = Command::new(workspace.path("bench/run"));
    load.args(["--train", "--binary"]).arg(binary);
    if let Some(postgres) = &postgres {
        load.env(VARIABLE, postgres.url());
    }
    let outcome = process::run(&mut load);
    if let Some(postgres) = postgres {
        postgres.stop()?;
    }
    outcome
}

/// Puts the counts together with the first program that can read them.
fn merge(mergers: &[OsString], counts: &Path, profile: &Path) -> anyhow::Result<()> {
    let merged = mergers.iter().any(|merger| {
        let mut merge = Command::new(merger);
        process::succeeds(merge.args(["merge", "-o"]).arg(profile).arg(counts))
    });
    anyhow::ensure!(merged, "{NONE}");
    Ok(())
}

const NONE: &str = "there is no llvm-profdata that reads what this compiler counts; install one (`rustup component add llvm-tools`, or a \
                    package llvm-19 or newer), or build without a load: make release ARGS=--plain";

/// Programs that may be able to put counts together: the compiler's own, and those of the system, newest first.
fn mergers(host: &str) -> anyhow::Result<Vec<OsString>> {
    let root = process::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let own = Path::new(root.trim()).join("lib/rustlib").join(host);
    let mut all = vec![own.join("bin/llvm-profdata").into_os_string()];
    all.extend(
        (19..=30)
            .rev()
            .map(|release| format!("llvm-profdata-{release}").into()),
    );
    all.push("llvm-profdata".into());
    all.retain(|program| process::succeeds(Command::new(program).args(["merge", "--help"])));
    anyhow::ensure!(!all.is_empty(), "{NONE}");
    Ok(all)
}

/// The machine that is built on and for.
fn host() -> anyhow::Result<String> {
    let said = process::output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .context("rustc does not say what its host is")
}
