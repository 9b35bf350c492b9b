//! Reads the facts of a workspace.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use connections::preset;
use domain::{
    Connection, ConnectionState, DefinitionState, Digest, Effect, Grant, Hints, PresetRef, Risk, Surface,
    Tenant, ToolRef,
};
use policy::{AcceptNewTools, ConnectionFact, RuleSet, ToolFact};
use serde_json::json;
use serde_json::value::RawValue;
use store::{Store, StoreError, ToolPin};

use super::{Imported, KnownTool, Workspace, renamed};
use crate::capability::{Capability, Registry};

impl Workspace {
    /// Reads everything. The epoch is read first: facts that change while reading are newer than it says, and the change's own
    /// notice leads to another reading.
    pub(crate) async fn load(
        store: &Store,
        tenant: Tenant,
        registry: &Registry,
        rules: RuleSet,
    ) -> Result<Self, StoreError> {
        let epoch = store.epoch(tenant).await?;
        let agents = store.all_agents(tenant).await?;
        let connections = store.all_connections(tenant).await?;
        let grants = store.all_grants(tenant, None).await?;
        let grants = renamed::carried(grants, &connections);
        let pins = store.list_pins(tenant, None).await?;
        let mut catalogues = HashMap::new();
        for connection in connections.iter().filter(|c| c.catalogue_version > 0) {
            if let Some(catalogue) = store.catalogue(tenant, connection.id).await? {
                catalogues.insert(connection.id, Arc::new(catalogue));
            }
        }
        let mut tool_facts = Vec::with_capacity(pins.len());
        let mut tools = HashMap::with_capacity(pins.len());
        for capability in registry.on(Surface::Agent) {
            let (tool, fact, known) = built_in(capability);
            tool_facts.push(fact);
            tools.insert(tool, known);
        }
        let mut classified = HashSet::new();
        let mut problems = HashMap::new();
        for pin in pins {
            let is_classified = pin.classification.is_some();
            let problem = pin.unusable.clone();
            let whose = connections
                .iter()
                .find(|connection| connection.id == pin.connection);
            let (tool, fact, known) = imported(pin, whose.and_then(|connection| connection.preset.as_ref()));
            tool_facts.push(fact);
            problems.extend(problem.map(|problem| (tool.clone(), problem)));
            if is_classified {
                classified.insert(tool.clone());
            }
            tools.extend(known.map(|known| (tool, known)));
        }
        let connection_facts = connections.iter().map(fact).collect();
        let incomplete = connections
            .iter()
            .filter(|connection| lacking(connection, &tools));
        let incomplete = incomplete.map(|connection| connection.id).collect();
        Ok(Self {
            tenant,
            epoch,
            handles: agents.iter().map(|a| (a.handle.clone(), a.id)).collect(),
            agents: agents.into_iter().map(|a| (a.id, a)).collect(),
            grants: by_agent(grants),
            namespaces: connections.iter().map(|c| (c.namespace.clone(), c.id)).collect(),
            connections: connections.into_iter().map(|c| (c.id, Arc::new(c))).collect(),
            catalogues,
            connection_facts,
            tool_facts,
            tools,
            classified,
            problems,
            rules,
            incomplete,
        })
    }
}

fn by_agent(grants: Vec<Grant>) -> HashMap<domain::AgentId, Vec<Grant>> {
    let mut sorted: HashMap<_, Vec<Grant>> = HashMap::new();
    for grant in grants {
        sorted.entry(grant.agent).or_default().push(grant);
    }
    sorted
}

/// A connection that was discovered once stays ready while a later check fails: its pinned tools fail one call at a time, with a
/// reason, instead of vanishing from every view.
fn fact(connection: &Connection) -> ConnectionFact {
    ConnectionFact {
        id: connection.id,
        owner: connection.owner,
        namespace: connection.namespace.clone(),
        enabled: connection.enabled,
        trusted: connection.trusted,
        ready: connection.state == ConnectionState::Ready || connection.catalogue_version > 0,
        allowed_tools: preset::offered(connection).map(Arc::from),
        context: connection.context.clone(),
        accept_new_tools: AcceptNewTools::default(),
        default_tools: preset::default_tools(connection),
    }
}

/// Whether a connection of the platform that may be used has no definition of a tool it offers.
fn lacking(connection: &Connection, tools: &HashMap<ToolRef, KnownTool>) -> bool {
    let usable = connection.enabled && connection.trusted && preset::qualifies(connection);
    let known = |name: &str| {
        tools.contains_key(&ToolRef::Upstream {
            connection: connection.id,
            name: name.into(),
        })
    };
    let lacks = |name: &Arc<str>| {
        let others = connection
            .preset
            .as_ref()
            .map_or_else(Vec::new, |preset| preset::names(preset, name));
        !known(name) && !others.into_iter().any(known)
    };
    usable
        && connection
            .allowed_tools
            .as_ref()
            .is_some_and(|allowed| allowed.iter().any(lacks))
}

fn built_in(capability: &Capability) -> (ToolRef, ToolFact, KnownTool) {
    let d = capability.declaration;
    let read_only = d.effect == Effect::ReadOnly;
    let mut definition = json!({
        "name": d.tool_name(),
        "title": d.title,
        "description": d.description,
        "inputSchema": *capability.input,
        "annotations": { "readOnlyHint": read_only, "openWorldHint": false },
    });
    if let (Some(output), Some(object)) = (&capability.output, definition.as_object_mut()) {
        object.insert("outputSchema".into(), (**output).clone());
    }
    let tool = ToolRef::Capability(d.id.into());
    let fact = ToolFact {
        tool: tool.clone(),
        definition: Digest::of_json(&definition),
        state: DefinitionState::Pinned,
        risk: d.risk,
        effect: d.effect,
        hints: Hints {
            read_only: Some(read_only),
            ..Hints::default()
        },
        surfaces: Arc::from(d.surfaces),
        seen: true,
    };
    let raw: Box<RawValue> = serde_json::value::to_raw_value(&definition).unwrap_or_default();
    (
        tool,
        fact,
        KnownTool::Capability {
            id: d.id,
            definition: Arc::from(raw),
        },
    )
}

/// An unclassified tool is high and mutating, whatever its annotations say.
fn imported(pin: ToolPin, preset: Option<&PresetRef>) -> (ToolRef, ToolFact, Option<KnownTool>) {
    let tool = ToolRef::Upstream {
        connection: pin.connection,
        name: pin.name,
    };
    let pinned = pin.accepted.as_ref().or(pin.seen.as_ref());
    let fact = ToolFact {
        tool: tool.clone(),
        definition: pinned.map_or_else(|| Digest::of(b""), |d| d.digest),
        state: pin.state,
        risk: pin.classification.map_or(Risk::High, |c| c.risk),
        effect: pin.classification.map_or(Effect::Mutating, |c| c.effect),
        hints: pin.hints,
        surfaces: Arc::from([]),
        seen: pin.accepted.is_some(),
    };
    let adapter = preset.and_then(|preset| preset::adapter(preset, tool.name()));
    let known =
        pinned.map(|d| KnownTool::Imported(Arc::new(Imported::new(d.raw.clone(), d.digest, adapter))));
    (tool, fact, known)
}
