//! The catalogue itself: files that are compiled in, read once.

use std::sync::LazyLock;

use super::Preset;

/// A file of the catalogue.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../presets/", $name, ".toml")))),*]
    };
}

/// Every preset's file, in order of the id.
pub(super) const FILES: [(&str, &str); 16] = files![
    "atlassian",
    "browser-use",
    "browserless",
    "exa",
    "firecrawl",
    "flightradar24",
    "github",
    "google-maps",
    "google-workspace",
    "linear",
    "monzo",
    "notion",
    "openbnb",
    "sentry",
    "slack",
    "tavily",
];

static CATALOGUE: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| match toml::from_str(text) {
        Ok(preset) => Some(preset),
        Err(error) => {
            // A test reads every file, so this is never seen in a release.
            tracing::error!(%error, preset = name, "a preset cannot be read and is left out");
            None
        }
    };
    FILES.iter().filter_map(read).collect()
});

/// All presets, in order of the id.
#[must_use]
pub fn catalogue() -> &'static [Preset] {
    &CATALOGUE
}

/// The preset with this id, or that had it before.
#[must_use]
pub fn find(id: &str) -> Option<&'static Preset> {
    let by_id = catalogue().iter().find(|preset| preset.id == id);
    by_id.or_else(|| {
        catalogue()
            .iter()
            .find(|preset| preset.former_ids.iter().any(|former| former == id))
    })
}
