//! Cargo's companions, from the path or built once under `.cache/cargo-tools`.

use std::process::Command;

use crate::process;
use crate::workspace::Workspace;

/// A companion and the version we build where it is missing.
#[derive(Clone, Copy)]
pub(crate) enum Tool {
    Deny,
    Fuzz,
    Insta,
    Machete,
}

impl Tool {
    fn name_and_version(self) -> (&'static str, &'static str) {
        match self {
            Self::Deny => ("cargo-deny", "0.20.2"),
            Self::Fuzz => ("cargo-fuzz", "0.13.2"),
            Self::Insta => ("cargo-insta", "1.49.0"),
            Self::Machete => ("cargo-machete", "0.9.2"),
        }
    }

    /// The program, ready for arguments; builds it first if it is neither on the path nor in the cache. Takes minutes then.
    ///
    /// # Errors
    /// Says why it could not be built.
    pub(crate) fn command(self, workspace: &Workspace) -> anyhow::Result<Command> {
        let (name, version) = self.name_and_version();
        let root = workspace.cache().join("cargo-tools");
        let built = root.join("bin").join(name);
        let program = if process::succeeds(Command::new(name).arg("--version")) {
            name.into()
        } else {
            built
        };
        if program.is_absolute() && !program.exists() {
            let mut cargo = process::cargo();
            cargo
                .args(["install", "--locked", "--root"])
                .arg(&root)
                .args([name, "--version", version]);
            process::run(cargo.current_dir(workspace.root()))?;
        }
        let mut command = Command::new(program);
        command.current_dir(workspace.root());
        Ok(command)
    }
}
