//! Recorded answers of published servers. They are not part of the project: `SWITCHBOARD_CASES` names the folder that
//! holds them; without it small samples written by hand stand in.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::catalogue_server::{Catalogue, CatalogueError};

/// The folder of recorded cases, if there is one.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "only tests call it, and this variable is how they find their data"
)]
pub fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("SWITCHBOARD_CASES").map(PathBuf::from);
    if folder.is_none() {
        // Nothing depends on the notice arriving.
        drop(writeln!(
            std::io::stderr(),
            "SWITCHBOARD_CASES is not set: using the small samples"
        ));
    }
    folder
}

/// Every recorded catalogue by name, sorted, each with its recorded answer to `server/discover` where that was a
/// result; else the two samples.
///
/// # Errors
///
/// If a file cannot be read or is no catalogue.
pub fn catalogues() -> Result<Vec<(String, Catalogue)>, CatalogueError> {
    let Some(folder) = folder() else {
        let legacy = Catalogue::parse(include_str!("catalogue_server/sample.json"))?;
        let modern = legacy
            .clone()
            .with_recorded_discovery(include_str!("catalogue_server/sample-modern.json"))?;
        return Ok(vec![
            ("sample".to_owned(), legacy),
            ("sample-modern".to_owned(), modern),
        ]);
    };
    let mut catalogues = Vec::new();
    for (name, path) in json_files(&folder.join("catalogues"))? {
        let mut catalogue = Catalogue::parse(&std::fs::read_to_string(path)?)?;
        let discovery = folder.join("protocol-2026-07-28").join(format!("{name}.json"));
        if discovery.exists() {
            catalogue = catalogue.with_recorded_discovery(&std::fs::read_to_string(discovery)?)?;
        }
        catalogues.push((name, catalogue));
    }
    Ok(catalogues)
}

/// The inputs kept for a target, by their file's name.
///
/// # Panics
///
/// If they cannot be read, or are more than a test should go through (60 files, 100 KB).
#[must_use]
#[expect(clippy::unwrap_used, reason = "a test without its inputs has failed")]
pub fn kept(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder.join(target)).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        inputs.push((name, std::fs::read(&path).unwrap()));
    }
    inputs.sort();
    let bytes: usize = inputs.iter().map(|(_, input)| input.len()).sum();
    assert!(
        !inputs.is_empty() && inputs.len() <= 60,
        "{target}: {} inputs",
        inputs.len()
    );
    assert!(bytes <= 100_000, "{target}: {bytes} bytes");
    inputs
}

fn json_files(folder: &Path) -> std::io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json")
            && let Some(name) = path.file_stem().and_then(|stem| stem.to_str())
        {
            files.push((name.to_owned(), path));
        }
    }
    files.sort();
    Ok(files)
}
