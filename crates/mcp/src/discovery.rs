//! Listing everything a server offers: every page, within bounds, one bad item costing only itself.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::error::RequestError;
use crate::param_headers::ParamHeaders;
use crate::peer::{Request, ServerFacts, Silent, Upstream};
use crate::target::TransportKind;
use crate::version::Era;
use crate::wire::Object;

/// What to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `skills/list` of the skills extension (SEP-2640).
    Skills,
}

/// The skills extension (SEP-2640).
pub const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";

/// How much to take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Items in all. 5,000.
    pub max_items: usize,
    /// Bytes of all items. 32 MiB.
    pub max_bytes: usize,
    /// Pages. 200.
    pub max_pages: usize,
}

/// What a server offers of one kind.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The definitions, untouched, in the server's order.
    pub items: Vec<Box<RawValue>>,
    /// What was skipped, and why.
    pub problems: Vec<Problem>,
    /// Whether a bound or a loop ended the listing early.
    pub truncated: bool,
    /// How long the server says this stays true; the shortest of all pages (2026-07-28, "Caching").
    pub ttl: Option<Duration>,
    /// Whether the server forbids sharing this between authorization contexts.
    pub private: bool,
}

/// An item that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the server's list, from 0.
    pub index: usize,
    /// What it calls itself, if that can be read.
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            max_items: 5_000,
            max_bytes: 32 * 1024 * 1024,
            max_pages: 200,
        }
    }
}

impl Kind {
    /// The method that lists it.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Skills => "skills/list",
        }
    }

    /// Whether a server announces it.
    pub fn announced_by(self, server: &ServerFacts) -> bool {
        match self {
            Self::Tools => server.declares("tools"),
            Self::Prompts => server.declares("prompts"),
            Self::Resources | Self::Templates => server.declares("resources"),
            Self::Skills => server.declares_extension(SKILLS_EXTENSION),
        }
    }

    /// The member of an item that identifies it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources | Self::Skills => "uri",
            Self::Templates => "uriTemplate",
        }
    }

    const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Skills => "skills",
        }
    }
}

/// Lists everything of one kind. A server that does not know the method offers nothing. Tools are asked for even where
/// the server declares none: published servers forget to.
pub async fn list_all(upstream: &Upstream, kind: Kind, bounds: Bounds) -> Result<Listing, RequestError> {
    let mut reading = Reading::new(upstream, kind, bounds);
    if kind != Kind::Tools && !kind.announced_by(upstream.server()) {
        return Ok(reading.listing);
    }
    let deadline = Instant::now() + upstream.limits().discovery;
    let mut cursor: Option<String> = None;
    let mut seen = HashSet::new();
    for _ in 0..bounds.max_pages {
        let mut params = Object::new();
        if let Some(cursor) = &cursor {
            params
                .set("cursor", cursor)
                .map_err(|e| RequestError::Unsendable(e.to_string()))?;
        }
        let request = Request::new(kind.method(), params, deadline);
        let page = match upstream.request(request, Arc::new(Silent)).await {
            Ok(page) => page,
            Err(error) if error.is_method_not_found() => return Ok(reading.listing),
            Err(error) => return Err(error),
        };
        let page = Object::parse(&page).map_err(|e| RequestError::Malformed(e.to_string()))?;
        if !reading.take(&page)? {
            break;
        }
        // An empty cursor is how some servers say that there is no next page.
        match page.text("nextCursor").filter(|next| !next.is_empty()) {
            None => return Ok(reading.listing),
            Some(next) if !seen.insert(next.clone()) => break,
            next => cursor = next,
        }
    }
    reading.listing.truncated = true;
    Ok(reading.listing)
}

struct Reading {
    kind: Kind,
    bounds: Bounds,
    /// Over modern Streamable HTTP, tools with bad header annotations must be left out.
    checks_headers: bool,
    names: HashSet<String>,
    index: usize,
    bytes: usize,
    listing: Listing,
}

impl Reading {
    fn new(upstream: &Upstream, kind: Kind, bounds: Bounds) -> Self {
        let negotiated = upstream.negotiated();
        let modern_http =
            negotiated.transport == TransportKind::StreamableHttp && negotiated.version.era() == Era::Modern;
        Self {
            kind,
            bounds,
            checks_headers: kind == Kind::Tools && modern_http,
            names: HashSet::new(),
            index: 0,
            bytes: 0,
            listing: Listing::default(),
        }
    }

    /// Takes a page; `false` when a bound is reached.
    fn take(&mut self, page: &Object) -> Result<bool, RequestError> {
        let member = self.kind.member();
        let items: Vec<&RawValue> = page
            .read(member)
            .ok_or_else(|| RequestError::Malformed(format!("the page holds no list of {member}")))?;
        if let Some(ttl) = page
            .read::<f64>("ttlMs")
            .filter(|ttl| ttl.is_finite() && *ttl >= 0.0)
        {
            let ttl = Duration::try_from_secs_f64(ttl / 1000.0).unwrap_or(Duration::MAX);
            self.listing.ttl = Some(self.listing.ttl.map_or(ttl, |shortest| shortest.min(ttl)));
        }
        self.listing.private |= page.text("cacheScope").as_deref() == Some("private");
        for item in items {
            let size = item.get().len();
            if self.listing.items.len() >= self.bounds.max_items || self.bytes + size > self.bounds.max_bytes
            {
                return Ok(false);
            }
            match self.check(item) {
                Ok(()) => {
                    self.bytes += size;
                    self.listing.items.push(item.to_owned());
                }
                // A page full of rubbish is bounded as well.
                Err(problem) if self.listing.problems.len() < self.bounds.max_items => {
                    self.listing.problems.push(problem);
                }
                Err(_) => return Ok(false),
            }
            self.index += 1;
        }
        Ok(true)
    }

    fn check(&mut self, item: &RawValue) -> Result<(), Problem> {
        let mut problem = Problem {
            index: self.index,
            name: None,
            reason: String::new(),
        };
        let mut fail = |name: Option<String>, reason: String| {
            (problem.name, problem.reason) = (name, reason);
            Err(problem.clone())
        };
        let fields = match Object::parse(item) {
            Ok(fields) => fields,
            Err(error) => return fail(None, error.to_string()),
        };
        let key = self.kind.key();
        let Some(name) = fields.text(key).filter(|name| !name.is_empty()) else {
            return fail(None, format!("`{key}` is not a non-empty string"));
        };
        if self.kind == Kind::Tools {
            let schema = fields
                .get("inputSchema")
                .filter(|schema| schema.get().starts_with('{'));
            let Some(schema) = schema else {
                return fail(Some(name), "`inputSchema` is not an object".to_owned());
            };
            if self.checks_headers
                && let Err(error) = ParamHeaders::from_schema(schema)
            {
                return fail(Some(name), error.to_string());
            }
        }
        if !self.names.insert(name.clone()) {
            return fail(
                Some(name.clone()),
                format!("`{key}` occurs twice; the first counts"),
            );
        }
        Ok(())
    }
}

/// The tool definition's input schema, if it has one.
pub fn input_schema(definition: &RawValue) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Definition {
        input_schema: Option<Box<RawValue>>,
    }
    serde_json::from_str::<Definition>(definition.get())
        .ok()?
        .input_schema
}
