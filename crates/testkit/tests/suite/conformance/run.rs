//! Running one scenario of the suite and reading what it found.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::program::program;
use testkit::tools::Tools;

/// The suite as installed.
pub(super) struct Suite {
    tools: Tools,
    client: PathBuf,
}

/// What a scenario found.
pub(super) struct Outcome {
    pub(super) passed: usize,
    /// Failures and warnings, one line each.
    pub(super) failures: Vec<String>,
}

impl Suite {
    pub(super) fn find() -> Option<Self> {
        let tools = Tools::find()?;
        let client = program("conformance-client").unwrap();
        Some(Self { tools, client })
    }

    /// The scenarios a client of the revision has to pass, as the suite lists them.
    pub(super) fn required_of_clients(&self, revision: &str) -> Vec<String> {
        let package = self.tools.packages().join("@modelcontextprotocol/conformance");
        let list = std::fs::read_to_string(package.join(format!("requirements/{revision}.yaml"))).unwrap();
        let lines = list.lines().skip_while(|line| *line != "client:").skip(1);
        lines
            .take_while(|line| line.starts_with([' ', '#']) || line.is_empty())
            .filter_map(|line| line.trim().strip_prefix("- "))
            .map(str::to_owned)
            .collect()
    }

    /// Plays a scenario on the wire of the revision.
    pub(super) fn play(&self, scenario: &str, revision: &str) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(self.tools.npm("conformance"))
            .args(["client", "--scenario", scenario, "--spec-version", revision])
            .arg("--command")
            .arg(&self.client)
            .arg("-o")
            .arg(folder.path())
            .env("PATH", self.tools.path())
            .env("NODE_OPTIONS", self.tools.loopback_only())
            .output()
            .unwrap();
        let checks: Vec<Value> = find(folder.path(), "checks.json")
            .map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
            .unwrap_or_default();
        let of = |status: &'static str| checks.iter().filter(move |check| check["status"] == status);
        let passed = of("SUCCESS").count();
        let mut failures: Vec<String> = of("FAILURE")
            .chain(of("WARNING"))
            .map(|check| {
                let why = check["errorMessage"].as_str().unwrap_or_default();
                format!(
                    "{revision} {scenario}: {} {}: {why}",
                    check["status"], check["id"]
                )
            })
            .collect();
        if failures.is_empty() && (!output.status.success() || passed == 0) {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            failures.push(format!(
                "{revision} {scenario}: {} with {passed} checks passed: {said}",
                output.status
            ));
        }
        Outcome { passed, failures }
    }
}

/// The first file of that name under a folder.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    std::fs::read_dir(folder).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, name)
        } else {
            path.ends_with(name).then_some(path)
        }
    })
}
