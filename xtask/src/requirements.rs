//! Which requirement is covered by which test: ids of `docs/requirements.md` against the comments that cite them.

mod citations;
mod document;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use clap::Args;

use self::citations::Citation;
use self::document::Requirement;
use crate::say;
use crate::workspace::Workspace;

/// What to print and when to fail.
#[derive(Args)]
pub(crate) struct Options {
    /// Only the requirements of this issue.
    #[arg(long, value_name = "NUMBER")]
    issue: Option<u8>,
    /// Only the requirements that no test cites.
    #[arg(long)]
    uncited: bool,
    /// Fail if one of the requirements printed is cited by no test.
    #[arg(long)]
    deny: bool,
}

/// Prints each requirement and where it is cited, then the totals.
///
/// # Errors
/// Fails if a comment cites an id that does not exist and, with `--deny`, if an id is cited nowhere.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let coverage = Coverage::of(workspace)?;
    let chosen = coverage
        .requirements
        .iter()
        .filter(|one| options.issue.is_none_or(|issue| one.issues.contains(&issue)));
    let (cited, uncited): (Vec<_>, Vec<_>) = chosen.partition(|one| coverage.cited.contains_key(&one.id));
    if !options.uncited {
        for requirement in &cited {
            let places = coverage
                .cited
                .get(&requirement.id)
                .map(|places| places.join(" "))
                .unwrap_or_default();
            say::line(format!("{} cited in {places}", requirement.id));
        }
    }
    for requirement in &uncited {
        say::line(format!("{} cited nowhere: {}", requirement.id, requirement.text));
    }
    say::line(format!(
        "{} of {} requirements are cited by a test",
        cited.len(),
        cited.len() + uncited.len()
    ));
    say::fail_on("citations of ids that do not exist", &coverage.unknown)?;
    anyhow::ensure!(
        !options.deny || uncited.is_empty(),
        "{} requirements are cited by no test",
        uncited.len()
    );
    Ok(())
}

/// The document and the citations, held against each other.
struct Coverage {
    requirements: Vec<Requirement>,
    /// Id to the places that cite it.
    cited: BTreeMap<String, Vec<String>>,
    /// Citations of an id that the document does not have.
    unknown: Vec<String>,
}

impl Coverage {
    fn of(workspace: &Workspace) -> anyhow::Result<Self> {
        let requirements = document::parse(&workspace.read("docs/requirements.md")?)?;
        let folders = ["crates", "console", "sdks", "bench", "fuzz"];
        let sources = workspace.sources(&folders, &["rs", "py", "mjs", "js", "ts", "tsx"])?;
        let citations = sources.iter().flat_map(citations::in_source);
        Ok(Self::from_parts(requirements, citations))
    }

    fn from_parts(requirements: Vec<Requirement>, citations: impl Iterator<Item = Citation>) -> Self {
        let mut coverage = Self {
            requirements,
            cited: BTreeMap::new(),
            unknown: Vec::new(),
        };
        for citation in citations {
            if coverage
                .requirements
                .iter()
                .any(|requirement| requirement.id == citation.id)
            {
                coverage
                    .cited
                    .entry(citation.id)
                    .or_default()
                    .push(citation.place);
            } else {
                coverage
                    .unknown
                    .push(format!("{}: {}", citation.place, citation.id));
            }
        }
        coverage
    }
}
