//! What tests need beyond cargo, prepared under `.cache/` from the pins in `crates/testkit/tools/`.
//!
//! `node22` holds Node.js, `npm` the JavaScript tools, `venv` the Python ones, `inkbox` a published Rust client. Each is made again only if its pins change.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context;

use crate::workspace::Workspace;
use crate::{process, say};

const PINS: &str = "crates/testkit/tools";

/// Prepares everything; does nothing where the pins have not changed. Two runs at once wait for each other.
///
/// # Errors
/// Names the program that is missing or the step that failed, and what to do.
pub(crate) fn setup(workspace: &Workspace) -> anyhow::Result<()> {
    let cache = workspace.cache();
    fs::create_dir_all(&cache).context("creating .cache/")?;
    let lock = File::create(cache.join("setup.lock")).context("creating .cache/setup.lock")?;
    lock.lock().context("waiting for another set-up to end")?;
    std::thread::scope(|scope| {
        let python = scope.spawn(|| python(workspace));
        let node = node(workspace).and_then(|()| npm(workspace));
        let inkbox = inkbox(workspace);
        let python = python
            .join()
            .unwrap_or_else(|_| Err(anyhow::anyhow!("setting up Python ended early")));
        node.and(inkbox).and(python)
    })
}

/// The programs of the Python environment.
pub(crate) fn python_program(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.cache().join("venv/bin").join(name)
}

fn node(workspace: &Workspace) -> anyhow::Result<()> {
    let pins = ["node22/package.json", "node22/package-lock.json"];
    Part {
        name: "node22",
        pins: &pins,
        also: String::new(),
    }
    .prepare(workspace, |folder| {
        npm_install(workspace, folder, None)?;
        let version = process::output(Command::new(node_bin(workspace).join("node")).arg("--version"))?;
        anyhow::ensure!(
            version.starts_with("v22."),
            "npm installed Node.js {version} instead of 22"
        );
        Ok(())
    })
}

fn npm(workspace: &Workspace) -> anyhow::Result<()> {
    let pins = ["package.json", "package-lock.json"];
    Part {
        name: "npm",
        pins: &pins,
        also: String::new(),
    }
    .prepare(workspace, |folder| {
        npm_install(workspace, folder, Some(node_bin(workspace)))
    })
}

fn python(workspace: &Workspace) -> anyhow::Result<()> {
    let version = process::output(Command::new("python3").arg("--version"))
        .context("Python 3.10 or later is needed (Debian: apt-get install python3 python3-venv)")?;
    let pins = ["requirements.txt", "constraints.txt"];
    Part {
        name: "venv",
        pins: &pins,
        also: version,
    }
    .prepare(workspace, |folder| {
        process::run(Command::new("python3").args(["-m", "venv"]).arg(folder))
            .context("making a Python environment (Debian: apt-get install python3-venv)")?;
        let mut pip = Command::new(folder.join("bin/pip"));
        pip.args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-r",
            "requirements.txt",
            "-c",
            "constraints.txt",
        ]);
        process::run(pip.current_dir(folder))
    })
}

/// A published Rust client, in a package of its own: in the workspace it would turn on features that the product does not have.
fn inkbox(workspace: &Workspace) -> anyhow::Result<()> {
    Part {
        name: "inkbox",
        pins: &["inkbox/Cargo.toml", "inkbox/Cargo.lock", "inkbox/main.rs"],
        also: process::output(Command::new("cargo").arg("--version"))?,
    }
    .prepare(workspace, |folder| {
        let target = folder.join("target");
        let mut cargo = Command::new("cargo");
        cargo
            .args(["build", "--quiet", "--locked", "--target-dir"])
            .arg(&target)
            .env_remove("CARGO_BUILD_BUILD_DIR");
        process::run(cargo.current_dir(folder))?;
        let built = target.join("debug/inkbox-client");
        fs::copy(&built, folder.join("inkbox-client")).context("keeping the client that was built")?;
        fs::remove_dir_all(&target).context("removing what building left behind")
    })
}

/// A folder under `.cache/` and what decides whether it must be made again.
struct Part<'a> {
    name: &'a str,
    /// Files under `crates/testkit/tools/`, copied into the folder by their last name.
    pins: &'a [&'a str],
    /// What else the result depends on.
    also: String,
}

impl Part<'_> {
    fn prepare(
        &self,
        workspace: &Workspace,
        make: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let folder = workspace.cache().join(self.name);
        let stamp = folder.join("stamp");
        let wanted = self.stamp(workspace)?;
        if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            say::step(&format!("{}: ready", self.name));
            return Ok(());
        }
        let start = Instant::now();
        say::step(&format!("{}: setting up", self.name));
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        for pin in self.pins {
            let name = Path::new(pin).file_name().unwrap_or_default();
            fs::copy(workspace.path(PINS).join(pin), folder.join(name))
                .with_context(|| format!("copying {PINS}/{pin}"))?;
        }
        make(&folder).with_context(|| format!("setting up {}", folder.display()))?;
        fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))?;
        say::step(&format!(
            "{}: ready after {} s",
            self.name,
            start.elapsed().as_secs()
        ));
        Ok(())
    }

    /// The whole text of the pins, and where they are unpacked: environments do not survive being moved.
    fn stamp(&self, workspace: &Workspace) -> anyhow::Result<String> {
        let mut stamp = format!("{}\n{}\n", workspace.cache().display(), self.also);
        for pin in self.pins {
            stamp.push_str(&workspace.read(&format!("{PINS}/{pin}"))?);
        }
        Ok(stamp)
    }
}

fn node_bin(workspace: &Workspace) -> PathBuf {
    workspace.cache().join("node22/node_modules/.bin")
}

/// Installs what the lock file of the folder says, with `bin` first on the path if given. Not `npm ci`: that refuses a lock file
/// in which an optional package for another platform could not be resolved.
fn npm_install(workspace: &Workspace, folder: &Path, bin: Option<PathBuf>) -> anyhow::Result<()> {
    anyhow::ensure!(
        process::succeeds(Command::new("npm").arg("--version")),
        "npm is needed (Debian: apt-get install npm)"
    );
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(folder);
    npm.env("npm_config_cache", workspace.cache().join("npm-downloads"));
    if let Some(bin) = bin {
        let mut path = OsString::from(bin);
        path.push(":");
        path.push(process::variable("PATH").unwrap_or_default());
        npm.env("PATH", path);
    }
    process::run(&mut npm)
}
