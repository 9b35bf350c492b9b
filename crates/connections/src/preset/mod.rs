//! The catalogue of presets: servers people know by name, with what is known about connecting to each and about its tools.
//!
//! The catalogue is data (`crates/connections/presets/*.toml`), compiled in. A preset is a word of ours on a par with a person's: its
//! tools are classified by it when they are first seen. What no preset names stays unclassified.

mod adapter;
mod load;
mod model;
mod probe;
mod provided;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use domain::{Classification, Connection, Endpoint, Light, PresetRef, Proof, Timestamp};

pub use self::adapter::Adapter;
pub use self::load::{catalogue, find};
pub use self::model::{
    Confidence, Objects, Place, Preset, PresetAuth, PresetTool, Probe, Registration, Shape, StripPrefix,
    Variant,
};
pub use self::probe::judge;
pub use self::provided::{EXA, alike, default_tools, provided, qualifies, shipped};

/// What the presets say about a connection's tool; none where it was made from no preset, or the preset does not name the tool.
#[must_use]
pub fn tool(connection: &PresetRef, name: &str) -> Option<&'static PresetTool> {
    let (preset, variant) = of(connection)?;
    preset.tool(variant, name)
}

/// The preset and the variant a connection was made from.
#[must_use]
pub fn of(connection: &PresetRef) -> Option<(&'static Preset, &'static Variant)> {
    let preset = find(&connection.id)?;
    let variant = preset.variant(&connection.variant)?;
    Some((preset, variant))
}

/// How a tool that is seen for the first time is classified by its preset. A deployment of one's own is somebody else's server: nothing
/// is said about it.
#[must_use]
pub fn classification(connection: &PresetRef, name: &str, now: Timestamp) -> Option<Classification> {
    let (preset, variant) = of(connection)?;
    let said = preset
        .tool(variant, name)
        .filter(|_| variant.kind != Place::Deployed)?;
    Some(Classification {
        risk: said.risk,
        effect: said.effect,
        at: now,
    })
}

/// What is to be done with the arguments and the schema of a connection's tool; none where nothing is.
#[must_use]
pub fn adapter(connection: &PresetRef, name: &str) -> Option<Adapter> {
    let (preset, variant) = of(connection)?;
    Adapter::of(preset, preset.tool(variant, name))
}

/// All names of one tool: the given one, and those its server used before or since.
#[must_use]
pub fn names(connection: &PresetRef, name: &str) -> Vec<&'static str> {
    tool(connection, name).map_or_else(Vec::new, |tool| {
        std::iter::once(&tool.name)
            .chain(&tool.former)
            .map(String::as_str)
            .collect()
    })
}

/// The tools a connection offers, each by all its names; none = all.
#[must_use]
pub fn offered(connection: &Connection) -> Option<Vec<Arc<str>>> {
    let allowed = connection.allowed_tools.as_ref()?;
    let Some(preset) = &connection.preset else {
        return Some(allowed.clone());
    };
    let mut all: Vec<Arc<str>> = allowed.clone();
    for name in allowed.iter().flat_map(|name| names(preset, name)) {
        if !all.iter().any(|known| **known == *name) {
            all.push(name.into());
        }
    }
    Some(all)
}

/// The light of a connection, given the one its health and account have: where listing proves nothing, it is green only once a call
/// proved the credential.
#[must_use]
pub fn light(connection: &Connection, found: Light) -> Light {
    let proof = connection.verified.map(|found| found.proof);
    if proof == Some(Proof::Rejected) {
        return Light::Red;
    }
    let listing_proves = connection
        .preset
        .as_ref()
        .and_then(of)
        .is_none_or(|(_, variant)| variant.listing_proves);
    if listing_proves || proof == Some(Proof::Proven) {
        found
    } else {
        found.max(Light::Yellow)
    }
}

/// The variant a connection is of once its settings changed: the same one, another of the same preset that fits them, or none any
/// more. What a preset says holds for the servers it names, and for no other.
#[must_use]
pub fn still(connection: &Connection) -> Option<PresetRef> {
    let known = connection.preset.as_ref()?;
    let (preset, variant) = of(known)?;
    let Endpoint::Url { url, .. } = &connection.endpoint else {
        return None;
    };
    let fits = |variant: &&Variant| variant.is_at(url) && variant.auth.kind == connection.account.kind;
    let now = Some(variant)
        .filter(fits)
        .or_else(|| preset.variants.iter().find(fits))?;
    let kept = PresetRef {
        id: known.id.clone(),
        variant: now.id.as_str().into(),
        provided: false,
    };
    let provided = known.provided && now.id == variant.id && connection.enabled;
    Some(PresetRef { provided, ..kept })
}
