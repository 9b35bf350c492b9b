//! Reads the configuration: defaults < file < environment < flags, then the files beside the data.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};

use super::{CommandEntry, Config, Problem};

const DEFAULTS: &str = include_str!("../../../../config/default.toml");

/// What the command line says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) data: PathBuf,
    pub(crate) listen: Option<SocketAddr>,
}

/// Reads everything; every mistake found is told, not only the first.
pub(crate) fn load(flags: &Flags) -> Result<Config, Vec<Problem>> {
    let mut figment = Figment::from(Toml::string(DEFAULTS));
    if let Some(path) = &flags.config {
        if !path.is_file() {
            return Err(vec![Problem::new(path.display(), "there is no such file")]);
        }
        figment = figment.merge(Toml::file_exact(path));
    }
    figment = figment.merge(Env::prefixed("SWITCHBOARD__").split("__"));
    if let Some(listen) = flags.listen {
        figment = figment.merge(Serialized::default("server.listen", listen.to_string()));
    }
    let mut config = extract(&figment)?;
    let mut problems = Vec::new();
    for (path, found) in beside(&flags.data, &mut problems) {
        let before = config.connections.len();
        config.connections.extend(found);
        tracing::debug!(path = %path.display(), connections = config.connections.len() - before, "read");
    }
    problems.extend(super::resolve::check(&config));
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems)
    }
}

/// Reads a text as [`load`] reads the file, and nothing beside it.
pub(crate) fn from_text(text: &str) -> Result<Config, Vec<Problem>> {
    let config = extract(&Figment::from(Toml::string(DEFAULTS)).merge(Toml::string(text)))?;
    let problems = super::resolve::check(&config);
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems)
    }
}

fn extract(figment: &Figment) -> Result<Config, Vec<Problem>> {
    let mut config: Config = figment.extract().map_err(|errors| {
        errors
            .into_iter()
            .map(|error| {
                let source = error
                    .metadata
                    .as_ref()
                    .map(|m| m.name.to_string())
                    .unwrap_or_default();
                Problem::new(source, error)
            })
            .collect::<Vec<_>>()
    })?;
    if config.server.public_url.is_empty() {
        config.server.public_url = format!("http://localhost:{}", config.server.listen.port());
    }
    Ok(config)
}

/// The entries of a file beside the data.
pub(crate) fn entries(text: &str) -> Result<Vec<CommandEntry>, String> {
    toml::from_str::<Beside>(text)
        .map(|beside| beside.connections)
        .map_err(|error| error.to_string())
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Beside {
    #[serde(default)]
    connections: Vec<CommandEntry>,
}

/// `DATA/connections.d/*.toml`, in order of their names.
fn beside(data: &Path, problems: &mut Vec<Problem>) -> Vec<(PathBuf, Vec<CommandEntry>)> {
    let Ok(folder) = std::fs::read_dir(data.join("connections.d")) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = folder.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    let mut read = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        match text.and_then(|text| entries(&text)) {
            Ok(found) => read.push((path, found)),
            Err(error) => problems.push(Problem::new(path.display(), error)),
        }
    }
    read
}
