//! The packages of the workspace and what their manifests say they depend on.

use anyhow::Context;
use serde::Deserialize;

use crate::process;
use crate::workspace::Workspace;

/// What our packages are called in a registry's name space, before the name of the crate.
const PREFIX: &str = "switchboard-";

/// A package of ours, by the short name of its crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a manifest. Build dependencies count as normal ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) dev: bool,
    pub(crate) ours: bool,
}

impl Dependency {
    /// How to tell a dev-dependency from a normal one in a message.
    pub(super) fn suffix(&self) -> &'static str {
        if self.dev { " (dev)" } else { "" }
    }
}

/// Asks cargo for the manifests as it reads them, without resolving anything.
///
/// # Errors
/// Says why cargo failed or what of its answer is not understood.
pub(super) fn packages(workspace: &Workspace) -> anyhow::Result<Vec<Package>> {
    let mut cargo = process::cargo();
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let answer = process::output(cargo.current_dir(workspace.root()))?;
    let metadata: Metadata = serde_json::from_str(&answer).context("reading the answer of cargo metadata")?;
    Ok(metadata.packages.into_iter().map(Package::from).collect())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    dependencies: Vec<MetadataDependency>,
}

#[derive(Deserialize)]
struct MetadataDependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

impl From<MetadataPackage> for Package {
    fn from(package: MetadataPackage) -> Self {
        let dependencies = package.dependencies.into_iter().map(|dependency| Dependency {
            name: short(&dependency.name),
            dev: dependency.kind.as_deref() == Some("dev"),
            ours: dependency.path.is_some(),
        });
        Self {
            name: short(&package.name),
            dependencies: dependencies.collect(),
        }
    }
}

fn short(name: &str) -> String {
    name.strip_prefix(PREFIX).unwrap_or(name).to_owned()
}
