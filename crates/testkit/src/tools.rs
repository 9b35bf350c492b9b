//! Programs of others that tests run against: Node.js, published servers, the conformance suite. They are not part of
//! the project: `SWITCHBOARD_TEST_TOOLS` names the folder that holds them (see `tools/README.md`).

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of test tools.
#[derive(Debug, Clone)]
pub struct Tools {
    root: PathBuf,
}

impl Tools {
    /// The folder, if there is one. Where there is none this says so, and the test has to pass over.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "only tests call it, and this variable is how they find their tools"
    )]
    pub fn find() -> Option<Self> {
        let root = std::env::var_os("SWITCHBOARD_TEST_TOOLS").map(PathBuf::from);
        if root.is_none() {
            // Nothing depends on the notice arriving.
            drop(writeln!(
                std::io::stderr(),
                "SWITCHBOARD_TEST_TOOLS is not set: passed over; `make test` sets it"
            ));
        }
        Some(Self { root: root? })
    }

    /// A program installed with npm. It needs [`Self::path`] to find Node.js.
    #[must_use]
    pub fn npm(&self, program: &str) -> PathBuf {
        self.packages().join(".bin").join(program)
    }

    /// The folder of the packages installed with npm.
    #[must_use]
    pub fn packages(&self) -> PathBuf {
        self.root.join("npm/node_modules")
    }

    /// A program installed with pip, or `python` itself.
    #[must_use]
    pub fn python(&self, program: &str) -> PathBuf {
        self.root.join("venv/bin").join(program)
    }

    /// The program that drives the published Rust client `inkbox`.
    #[must_use]
    pub fn inkbox(&self) -> PathBuf {
        self.root.join("inkbox/inkbox-client")
    }

    /// The search path for any of these programs: the pinned Node.js before what the system has.
    #[must_use]
    pub fn path(&self) -> String {
        let node = self.root.join("node22/node_modules/.bin");
        format!("{}:/usr/local/bin:/usr/bin:/bin", node.display())
    }

    /// What `NODE_OPTIONS` has to be so that a Node.js program listens on 127.0.0.1 whatever it asks for, and says on
    /// standard error where: `loopback port 41234`.
    #[must_use]
    pub fn loopback_only(&self) -> String {
        let preload = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/loopback.cjs");
        format!("--require {}", preload.display())
    }
}
