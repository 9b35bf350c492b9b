//! Grants of tools that their servers renamed: what was said of a tool holds under all its names.

use std::collections::{HashMap, HashSet};

use connections::preset;
use domain::{AgentId, Connection, ConnectionId, Grant, GrantSubject, PresetRef, ToolRef};

/// The grants, and beside each of a tool that a preset knows by several names the same for those of them that have none of their own.
pub(super) fn carried(grants: Vec<Grant>, connections: &[Connection]) -> Vec<Grant> {
    let presets: HashMap<ConnectionId, &PresetRef> = connections
        .iter()
        .filter_map(|connection| Some((connection.id, connection.preset.as_ref()?)))
        .collect();
    if presets.is_empty() {
        return grants;
    }
    let own: HashSet<(AgentId, &GrantSubject)> =
        grants.iter().map(|grant| (grant.agent, &grant.subject)).collect();
    let mut more = Vec::new();
    for grant in &grants {
        let GrantSubject::Tool(ToolRef::Upstream { connection, name }) = &grant.subject else {
            continue;
        };
        let Some(preset) = presets.get(connection) else {
            continue;
        };
        for other in preset::names(preset, name) {
            let subject = GrantSubject::Tool(ToolRef::Upstream {
                connection: *connection,
                name: other.into(),
            });
            if !own.contains(&(grant.agent, &subject)) {
                more.push(Grant {
                    subject,
                    ..grant.clone()
                });
            }
        }
    }
    drop(own);
    let mut grants = grants;
    // Where two former names were granted differently, the stricter holds: composing sees to it.
    grants.extend(more);
    grants
}
