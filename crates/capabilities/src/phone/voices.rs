//! The voices there are, from a data file. One is available where a speech service that has it is set up.

use std::sync::LazyLock;

use api::phone::Voice;
use api::{Page, PageQuery};
use gateway::capability::{Action, Capability, Context, Declaration, Failure};
use serde::Deserialize;

use super::READ;
use crate::paging;

const LIST: Declaration = Declaration {
    id: "voices.list",
    title: "List voices",
    description: "Lists the voices agents can have on calls, which of them are available here, and with which of them tools and context \
                  of connections can be used.",
    path: "/voices",
    action: Action::Own,
    ..READ
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    default: String,
    voices: Vec<Known>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    id: String,
    name: String,
    description: String,
    service: String,
    mcp_supported: bool,
}

static CATALOGUE: LazyLock<Result<Catalogue, serde_json::Error>> =
    LazyLock::new(|| serde_json::from_str(include_str!("voices.json")));

pub(super) fn capabilities() -> Vec<Capability> {
    vec![Capability::new(LIST, list)]
}

async fn list(_context: Context, query: PageQuery) -> Result<Page<Voice>, Failure> {
    let catalogue = catalogue()?;
    let numbered: Vec<_> = catalogue.voices.iter().enumerate().collect();
    let wanted = paging::request(query.cursor, query.limit);
    let page = paging::cut("voices", numbered, |(place, _)| format!("{place:04}"), &wanted)?;
    Ok(paging::page(page, |(_, voice)| Voice {
        id: voice.id.clone(),
        name: voice.name.clone(),
        description: voice.description.clone(),
        available: SERVICES.contains(&voice.service.as_str()),
        mcp_supported: voice.mcp_supported,
        default: voice.id == catalogue.default,
    }))
}

/// The speech services this release can speak with.
const SERVICES: &[&str] = &[];

/// Refuses a voice there is not. One that is not available here may be chosen: it speaks once its service is set up.
pub(super) fn known(id: &str) -> Result<(), Failure> {
    if catalogue()?.voices.iter().any(|voice| voice.id == id) {
        return Ok(());
    }
    let detail = "there is no such voice; voices.list names those there are";
    Err(Failure::field("voice", detail))
}

/// The voice of an agent that was given none.
pub(super) fn default() -> Result<String, Failure> {
    Ok(catalogue()?.default.clone())
}

fn catalogue() -> Result<&'static Catalogue, Failure> {
    CATALOGUE
        .as_ref()
        .map_err(|error| Failure::internal("the voices cannot be read", error))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{catalogue, default, known};

    #[test]
    fn the_catalogue_is_sound() {
        let ids: HashSet<_> = catalogue()
            .unwrap()
            .voices
            .iter()
            .map(|voice| &voice.id)
            .collect();
        assert_eq!(ids.len(), catalogue().unwrap().voices.len());
        assert!(known(&default().unwrap()).is_ok());
        assert!(known("nobody").is_err());
    }
}
