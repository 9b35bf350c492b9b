//! Browsing servers that could be connected: presets first, then the official registry.

use ::connections::preset::{self, Preset, Registration, Variant};
use ::connections::registry::{Auth, Listed, Ownership, Remote, Wanted};
use api::registry::{
    RegistryEndpoint, RegistryOwnership, RegistryPackage, RegistryPage, RegistryServer, SearchRegistry,
};
use domain::AccountKind;
use gateway::capability::{Capability, Context, Declaration, Failure};

use super::READ;
use super::presets::is_open;

const SEARCH: Declaration = Declaration {
    id: "search_mcp_registry",
    title: "Search for servers",
    description: "Searches servers that could be connected: those with a preset first, then the official registry of MCP servers, each \
                  with what is proven of its publisher, its transports and how one proves oneself. Nothing is connected.",
    path: "/registry/servers",
    paged: true,
    command: Some("registry search"),
    ..READ
};

/// Servers of a page where nobody says how many.
const USUAL: u16 = 20;
/// Most servers of a page.
const MOST: u16 = 30;

pub(super) fn capability() -> Capability {
    Capability::new(SEARCH, search)
}

/// Where a page begins.
enum Place {
    /// After so many presets.
    Presets(usize),
    /// In the registry, where its own cursor says.
    Registry(Option<String>),
}

impl Place {
    fn read(cursor: Option<&str>) -> Result<Self, Failure> {
        let Some(cursor) = cursor else {
            return Ok(Self::Presets(0));
        };
        let wrong = || Failure::field("cursor", "this is no cursor of this list; start again without it");
        match (cursor.strip_prefix("p:"), cursor.strip_prefix("r:")) {
            (Some(number), _) => number.parse().map(Self::Presets).map_err(|_| wrong()),
            (None, Some("")) => Ok(Self::Registry(None)),
            (None, Some(theirs)) => Ok(Self::Registry(Some(theirs.to_owned()))),
            (None, None) => Err(wrong()),
        }
    }
}

async fn search(context: Context, input: SearchRegistry) -> Result<RegistryPage, Failure> {
    let query = input.query.unwrap_or_default().trim().to_owned();
    let limit = input.limit.unwrap_or(USUAL).clamp(1, MOST);
    let ours = matching(&context, &query);
    let (mut items, cursor) = match Place::read(input.cursor.as_deref())? {
        Place::Registry(cursor) => (Vec::new(), cursor),
        Place::Presets(from) => {
            let page: Vec<_> = ours.iter().skip(from).take(usize::from(limit)).collect();
            let next = from + page.len();
            let shown: Vec<_> = page
                .into_iter()
                .map(|preset| of_preset(&context, preset))
                .collect();
            if next < ours.len() || shown.len() == usize::from(limit) {
                let rest = if next < ours.len() {
                    format!("p:{next}")
                } else {
                    "r:".to_owned()
                };
                return Ok(RegistryPage {
                    items: shown,
                    next_cursor: Some(rest),
                    registry_reachable: true,
                });
            }
            (shown, None)
        }
    };
    let room = usize::from(limit).saturating_sub(items.len());
    let wanted = Wanted {
        query,
        cursor,
        limit: u16::try_from(room).unwrap_or(limit).max(1),
    };
    let Ok(page) = context.gateway.connections().browse_registry(wanted).await else {
        return Ok(RegistryPage {
            items,
            next_cursor: None,
            registry_reachable: false,
        });
    };
    // What a preset stands for already is not shown again.
    let known = |listed: &&Listed| {
        !ours
            .iter()
            .any(|preset| preset.registry_names.contains(&listed.name))
    };
    items.extend(page.servers.iter().filter(known).map(of_registry));
    Ok(RegistryPage {
        items,
        next_cursor: page.next.as_ref().map(|next| format!("r:{next}")),
        registry_reachable: true,
    })
}

/// Presets of first parties that a query finds and that are open here.
fn matching(context: &Context, query: &str) -> Vec<&'static Preset> {
    let query = query.to_lowercase();
    let finds = |preset: &&Preset| {
        let own = [&preset.id, &preset.name, &preset.publisher, &preset.description];
        own.into_iter()
            .chain(&preset.former_ids)
            .any(|text| text.to_lowercase().contains(&query))
    };
    let open = |preset: &&Preset| preset.variants.iter().any(|variant| is_open(context, variant));
    preset::catalogue()
        .iter()
        .filter(|preset| preset.first_party)
        .filter(finds)
        .filter(open)
        .collect()
}

fn of_preset(context: &Context, preset: &Preset) -> RegistryServer {
    let open: Vec<&Variant> = preset
        .variants
        .iter()
        .filter(|variant| is_open(context, variant))
        .collect();
    let auth = open.first().map(|variant| &variant.auth);
    let mut endpoints: Vec<RegistryEndpoint> = Vec::new();
    for url in open.iter().filter_map(|variant| variant.url.clone()) {
        if !endpoints.iter().any(|known| known.url == url) {
            endpoints.push(RegistryEndpoint {
                transport: "streamable-http".to_owned(),
                url,
                hindrance: None,
            });
        }
    }
    let registration = auth.and_then(|auth| auth.registration);
    RegistryServer {
        id: format!("verified/{}", preset.id),
        name: preset.name.clone(),
        description: preset.description.clone(),
        publisher: preset.publisher.clone(),
        publisher_verified: true,
        ownership: RegistryOwnership {
            kind: "catalogue".to_owned(),
            subject: preset.publisher.clone(),
        },
        source: "verified".to_owned(),
        preset: Some(preset.id.clone()),
        version: None,
        status: "active".to_owned(),
        status_message: None,
        website: Some(preset.website.clone()),
        repository: None,
        icon_url: None,
        endpoint_url: endpoints.first().map(|endpoint| endpoint.url.clone()),
        endpoints,
        transports: vec!["streamable-http".to_owned()],
        auth: auth.map_or(AccountKind::None, |auth| auth.kind).to_string(),
        auth_header: auth.and_then(|auth| auth.header_name.clone()),
        oauth_registration: match registration {
            Some(Registration::Dynamic) => "dynamic",
            Some(Registration::OwnApp) => "client_required",
            None => "unknown",
        }
        .to_owned(),
        asks_for: auth.and_then(|auth| auth.secret.clone()).into_iter().collect(),
        connectable: true,
        hindrance: None,
        packages: Vec::new(),
    }
}

fn of_registry(listed: &Listed) -> RegistryServer {
    let connectable = listed.remotes.iter().find(|remote| remote.hindrance.is_none());
    let remote = connectable.or(listed.remotes.first());
    let (auth, auth_header) = remote.map_or(("unknown", None), auth);
    let hindrance = match remote {
        Some(remote) => remote.hindrance.map(str::to_owned),
        None => Some("it only runs as a command, which the operator configures".to_owned()),
    };
    let (kind, subject, verified) = match &listed.ownership {
        Ownership::Domain(domain) => ("domain", domain, true),
        Ownership::Github(account) => ("github", account, false),
        Ownership::Unproven(name) => ("unproven", name, false),
    };
    let preset = preset::catalogue()
        .iter()
        .find(|preset| preset.registry_names.contains(&listed.name));
    RegistryServer {
        id: listed.name.clone(),
        name: listed.title.clone().unwrap_or_else(|| listed.name.clone()),
        description: listed.description.clone(),
        publisher: match &listed.ownership {
            Ownership::Github(account) => format!("{account} at GitHub"),
            Ownership::Domain(name) | Ownership::Unproven(name) => name.clone(),
        },
        publisher_verified: verified,
        ownership: RegistryOwnership {
            kind: kind.to_owned(),
            subject: subject.clone(),
        },
        source: "registry".to_owned(),
        preset: preset.map(|preset| preset.id.clone()),
        version: Some(listed.version.clone()).filter(|version| !version.is_empty()),
        status: listed.status.clone(),
        status_message: listed.status_message.clone(),
        website: listed.website.clone(),
        repository: listed.repository.clone(),
        icon_url: listed.icon.clone(),
        endpoint_url: remote.map(|remote| remote.url.clone()),
        endpoints: listed.remotes.iter().map(endpoint).collect(),
        transports: transports(listed),
        auth: auth.to_owned(),
        auth_header,
        oauth_registration: "unknown".to_owned(),
        asks_for: remote.map(|remote| remote.asks_for.clone()).unwrap_or_default(),
        connectable: connectable.is_some(),
        hindrance,
        packages: listed.packages.iter().map(package).collect(),
    }
}

fn endpoint(remote: &Remote) -> RegistryEndpoint {
    RegistryEndpoint {
        transport: remote.transport.clone(),
        url: remote.url.clone(),
        hindrance: remote.hindrance.map(str::to_owned),
    }
}

fn package(package: &::connections::registry::Package) -> RegistryPackage {
    RegistryPackage {
        registry_type: package.registry_type.clone(),
        identifier: package.identifier.clone(),
        version: package.version.clone(),
        transport: package.transport.clone(),
    }
}

fn auth(remote: &Remote) -> (&'static str, Option<String>) {
    match &remote.auth {
        Auth::Unknown => ("unknown", None),
        Auth::Bearer => ("bearer", None),
        Auth::Header { name, .. } => ("header", Some(name.clone())),
    }
}

/// Each way it can be spoken to, once, in the order it says.
fn transports(listed: &Listed) -> Vec<String> {
    let remotes = listed.remotes.iter().map(|remote| &remote.transport);
    let packages = listed.packages.iter().map(|package| &package.transport);
    let mut found: Vec<String> = Vec::new();
    for transport in remotes.chain(packages) {
        if !found.contains(transport) {
            found.push(transport.clone());
        }
    }
    found
}
