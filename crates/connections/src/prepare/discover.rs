//! Lists everything a server offers and reads it.

use std::sync::Arc;
use std::time::Duration;

use domain::{Connection, PresetRef};
use futures::future::join_all;
use mcp::discovery::{Bounds, Kind, Listing, list_all};
use mcp::version::Era;
use mcp::{RequestError, Upstream};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use super::bound::{self, Room};
use super::reconcile::Seen;
use crate::definition::Tool;
use crate::depth::too_deep;
use crate::pool::shorten;
use crate::preset;
use crate::schema::Schemas;
use crate::skill::Skill;
use crate::{ConnectionError, Limits};

/// Pages of one list.
const PAGES: usize = 1_000;
/// Problems that are kept of one discovery.
const PROBLEMS: usize = 200;
/// What is listed besides tools.
const OTHERS: [Kind; 4] = [Kind::Prompts, Kind::Resources, Kind::Templates, Kind::Skills];
/// How much more than is kept may be read, so that allowed tools are found wherever they stand.
const SEARCHED: usize = 4;

/// Everything a server offers, read and cut to the bounds.
pub(super) struct Discovered {
    pub(super) tools: Vec<Seen>,
    pub(super) prompts: Vec<Arc<RawValue>>,
    pub(super) resources: Vec<Arc<RawValue>>,
    pub(super) templates: Vec<Arc<RawValue>>,
    pub(super) skills: Vec<Arc<RawValue>>,
    /// Whether every tool the server has was listed.
    pub(super) complete: bool,
    /// What is missing or wrong.
    pub(super) problems: Vec<String>,
    /// What is odd but does no harm.
    pub(super) oddities: Vec<String>,
    /// Which preset the connection was made from.
    pub(super) preset: Option<PresetRef>,
    /// How long all of it stays true, as the server says.
    pub(super) ttl: Option<Duration>,
}

/// Lists everything. Tools are what a connection is for: without them there is no answer. What else cannot be listed, or not in time,
/// is missing, and nothing more.
pub(super) async fn everything(
    upstream: &Upstream,
    connection: &Connection,
    limits: &Limits,
) -> Result<Discovered, ConnectionError> {
    let deadline = Instant::now() + limits.discovery;
    let tools = timeout_at(deadline, list(upstream, Kind::Tools, limits)).await;
    let tools = tools
        .map_err(|_| ConnectionError::DiscoveryTimeout(limits.discovery))?
        .map_err(|e| ConnectionError::Discovery(Arc::new(e)))?;
    let others = join_all(
        OTHERS.map(|kind| async move { (kind, timeout_at(deadline, list(upstream, kind, limits)).await) }),
    )
    .await;
    let said = others
        .iter()
        .filter_map(|(_, listing)| listing.as_ref().ok()?.as_ref().ok());
    let shortest = std::iter::once(&tools)
        .chain(said)
        .filter_map(|listing| listing.ttl)
        .min();
    let mut room = Room {
        items: limits.items,
        bytes: limits.bytes,
    };
    let mut found = read_tools(tools, connection, &mut room);
    // In earlier revisions the member means nothing.
    found.ttl = shortest.filter(|_| upstream.negotiated().version.era() == Era::Modern);
    for (kind, listing) in others {
        let items = match listing {
            Ok(Ok(listing)) => read_items(listing, kind, &mut room, &mut found.problems),
            Ok(Err(error)) => {
                let problem = format!("{} failed: {error}", kind.method());
                found.problems.push(shorten(&problem));
                Vec::new()
            }
            Err(_) => {
                let problem = format!("{} took longer than {:?}", kind.method(), limits.discovery);
                found.problems.push(problem);
                Vec::new()
            }
        };
        match kind {
            Kind::Prompts => found.prompts = items,
            Kind::Resources => found.resources = items,
            Kind::Templates => found.templates = items,
            Kind::Skills => found.skills = read_skills(items, &mut found.problems, &mut found.oddities),
            Kind::Tools => {}
        }
    }
    found.problems.truncate(PROBLEMS);
    found.oddities.truncate(PROBLEMS);
    Ok(found)
}

/// Keeps what is a skill. One that is not loaded is kept as well: people see why.
fn read_skills(
    items: Vec<Arc<RawValue>>,
    problems: &mut Vec<String>,
    oddities: &mut Vec<String>,
) -> Vec<Arc<RawValue>> {
    let mut kept = Vec::with_capacity(items.len());
    for raw in items {
        match Skill::read(raw) {
            Ok(skill) => {
                if let Some(why) = &skill.unsupported {
                    oddities.push(shorten(&format!("skill {:?} is not loaded: {why}", skill.uri)));
                }
                kept.push(skill.raw);
            }
            Err(malformed) => problems.push(shorten(&malformed.to_string())),
        }
    }
    kept
}

async fn list(upstream: &Upstream, kind: Kind, limits: &Limits) -> Result<Listing, RequestError> {
    let bounds = Bounds {
        max_items: limits.items.saturating_mul(SEARCHED),
        max_bytes: limits.bytes.saturating_mul(2),
        max_pages: PAGES,
    };
    list_all(upstream, kind, bounds).await
}

fn read_tools(listing: Listing, connection: &Connection, room: &mut Room) -> Discovered {
    let mut problems = listed_problems(&listing, Kind::Tools);
    let mut oddities = Vec::new();
    let mut all = Vec::with_capacity(listing.items.len());
    for raw in listing.items {
        let deep = too_deep(raw.get());
        match Tool::read(Arc::from(raw)) {
            Ok(tool) if deep => problems.push(shorten(&format!(
                "tool {:?} is nested too deeply; it is left out",
                tool.name
            ))),
            Ok(tool) => {
                oddities.extend(
                    tool.oddities
                        .iter()
                        .map(|odd| shorten(&format!("tool {:?}: {odd}", tool.name))),
                );
                all.push(tool);
            }
            Err(malformed) => problems.push(shorten(&malformed.to_string())),
        }
    }
    let (kept, left_out) = bound::tools(all, preset::offered(connection).as_deref(), room);
    if left_out > 0 {
        problems.push(format!(
            "{left_out} tools are over the bounds of a catalogue and are left out"
        ));
    }
    Discovered {
        tools: kept
            .into_iter()
            .map(|tool| Seen { tool, unusable: None })
            .collect(),
        prompts: Vec::new(),
        resources: Vec::new(),
        templates: Vec::new(),
        skills: Vec::new(),
        complete: !listing.truncated && left_out == 0,
        problems,
        oddities,
        preset: connection.preset.clone(),
        ttl: None,
    }
}

fn read_items(
    listing: Listing,
    kind: Kind,
    room: &mut Room,
    problems: &mut Vec<String>,
) -> Vec<Arc<RawValue>> {
    problems.extend(listed_problems(&listing, kind));
    let before = listing.items.len();
    let shallow = listing.items.into_iter().filter(|raw| !too_deep(raw.get()));
    let all: Vec<Arc<RawValue>> = shallow.map(Arc::from).collect();
    if all.len() < before {
        problems.push(format!(
            "{}: {} items are nested too deeply and are left out",
            kind.method(),
            before - all.len()
        ));
    }
    let (kept, left_out) = bound::items(all, |raw| raw.get().len(), room);
    if left_out > 0 {
        problems.push(format!(
            "{}: {left_out} items are over the bounds of a catalogue and are left out",
            kind.method()
        ));
    }
    kept
}

fn listed_problems(listing: &Listing, kind: Kind) -> Vec<String> {
    let method = kind.method();
    let mut problems: Vec<String> = listing
        .problems
        .iter()
        .map(|problem| {
            let name = problem
                .name
                .as_deref()
                .map(|name| format!(" ({name:?})"))
                .unwrap_or_default();
            shorten(&format!(
                "{method}: item {}{name}: {}; it is left out",
                problem.index, problem.reason
            ))
        })
        .collect();
    if listing.truncated {
        problems.push(format!(
            "{method}: the list does not end within the bounds; the rest is left out"
        ));
    }
    problems
}

/// Compiles every input schema; those that cannot be are marked with the reason. Takes a while for many.
pub(super) fn compile(tools: &mut [Seen], schemas: &Schemas) {
    for seen in tools {
        seen.unusable = schemas
            .get(seen.tool.digest, seen.tool.input_schema())
            .err()
            .map(|problem| problem.to_string());
    }
}
