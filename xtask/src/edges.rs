//! Holds the dependency graph of the workspace to the table in `edges.toml`.

mod graph;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

use crate::say;
use crate::workspace::Workspace;

pub(crate) use self::graph::{Dependency, Package};

/// Who may import whom, and where libraries and words have their only homes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    may_import: BTreeMap<String, Vec<String>>,
    dev_only: DevOnly,
    only_in: Vec<Home>,
    words_only_in: Vec<WordHome>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DevOnly {
    crates: Vec<String>,
}

/// Libraries that only these crates may depend on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Home {
    packages: Vec<String>,
    crates: Vec<String>,
    reason: String,
}

/// Words that only the production code of these crates may contain.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordHome {
    words: Vec<String>,
    crates: Vec<String>,
    reason: String,
    /// Files elsewhere that may contain them all the same.
    #[serde(default)]
    except: Vec<Exception>,
}

/// A file that needs a word outside its home, and what for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    file: String,
    #[serde(rename = "for")]
    _purpose: String,
}

/// Checks the manifests and sources of the workspace.
///
/// # Errors
/// Lists every edge, dependency or word that the table does not allow.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    say::fail_on("edges", &violations(workspace)?)
}

/// Everything in the workspace that the table does not allow.
///
/// # Errors
/// Says what could not be read: the table, the manifests or a source file.
fn violations(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let table = Table::parse(&workspace.read("xtask/edges.toml")?)?;
    let mut found = table.graph_violations(&graph::packages(workspace)?);
    let sources = workspace.sources(&["crates", "xtask"], &["rs"])?;
    found.extend(
        table
            .words_only_in
            .iter()
            .flat_map(|home| words::violations(home, &sources)),
    );
    Ok(found)
}

impl Table {
    fn parse(text: &str) -> anyhow::Result<Self> {
        toml::from_str(text).context("reading xtask/edges.toml")
    }

    /// Edges and homes that a graph gets wrong, one sentence each.
    fn graph_violations(&self, packages: &[Package]) -> Vec<String> {
        let imports = packages
            .iter()
            .flat_map(|package| self.import_violations(package));
        let homes = packages.iter().flat_map(|package| self.home_violations(package));
        imports.chain(homes).collect()
    }

    fn import_violations(&self, package: &Package) -> Vec<String> {
        let name = &package.name;
        let Some(allowed) = self.may_import.get(name) else {
            return vec![format!(
                "{name} is not in the table: add it with what it may import"
            )];
        };
        let may = |dependency: &Dependency| {
            let dev_only = self.dev_only.crates.contains(&dependency.name);
            let listed =
                allowed.contains(&dependency.name) || (allowed.iter().any(|one| one == "*") && !dev_only);
            listed || (dev_only && dependency.dev)
        };
        let wrong = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.ours && !may(dependency));
        wrong
            .map(|dependency| format!("{name} may not import {}{}", dependency.name, dependency.suffix()))
            .collect()
    }

    fn home_violations(&self, package: &Package) -> Vec<String> {
        let homes = self
            .only_in
            .iter()
            .filter(|home| !home.crates.contains(&package.name));
        let wrong = homes.flat_map(|home| {
            let strays = package
                .dependencies
                .iter()
                .filter(|dependency| home.packages.contains(&dependency.name));
            strays.map(|stray| {
                format!(
                    "{} may not depend on {}{}: {}",
                    package.name,
                    stray.name,
                    stray.suffix(),
                    home.reason
                )
            })
        });
        wrong.collect()
    }
}
