//! Where this crate's own programs are, and the product itself.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of `switchboard`, or of one of this crate's programs, `fixture`, `scripted-child` or `conformance-client`, built if it is not
/// there yet.
///
/// Cargo builds them by itself only for whole-workspace test runs; after changing one, build it by hand.
///
/// # Errors
///
/// If it is not there and cannot be built.
pub fn program(name: &str) -> std::io::Result<PathBuf> {
    let folder = output_folder()?;
    let path = folder.join(name);
    if !path.exists() {
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(profile) => profile,
        };
        let package = match name {
            "switchboard" => "switchboard-cli",
            _ => "switchboard-testkit",
        };
        let arguments = [
            "build",
            "--quiet",
            "--package",
            package,
            "--bin",
            name,
            "--profile",
            profile,
        ];
        let built = Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()?;
        if !built.success() {
            return Err(std::io::Error::other(format!("{name} could not be built")));
        }
    }
    Ok(path)
}

/// The folder programs are built into: tests run from `deps` inside it, unless what is in between goes elsewhere
/// (`build.build-dir`) and `CARGO_TARGET_DIR` names where programs go.
#[expect(
    clippy::disallowed_methods,
    reason = "only tests call it, and this variable says where cargo puts programs"
)]
fn output_folder() -> std::io::Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test
        .parent()
        .filter(|folder| folder.ends_with("deps"))
        .and_then(Path::parent)
        .or(test.parent())
        .ok_or_else(|| std::io::Error::other("the test program is in no folder"))?;
    match (std::env::var_os("CARGO_TARGET_DIR"), folder.file_name()) {
        (Some(target), Some(profile)) => Ok(Path::new(&target).join(profile)),
        _ => Ok(folder.to_owned()),
    }
}
