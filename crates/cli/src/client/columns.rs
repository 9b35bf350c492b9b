//! Which fields of a list's items people see, by operation. `--json` has all of them.

use serde_json::Value;

/// One column: where its value is in an item, and its heading.
pub(super) struct Column {
    pub(super) pointer: String,
    pub(super) heading: String,
}

/// Operation, and the fields shown: `field` or `field/inner`, with `=heading` where that says more.
const SHOWN: &[(&str, &[&str])] = &[
    (
        "activity.list",
        &[
            "at",
            "exposed_name=tool",
            "decision",
            "reason",
            "status",
            "code",
            "duration_us=took",
        ],
    ),
    ("agents.list", &["handle", "description", "enabled", "version"]),
    ("audit.list", &["seq", "at", "kind", "actor_kind", "fact"]),
    (
        "clients.list",
        &[
            "id",
            "name",
            "resource",
            "member_id=member",
            "last_used_at",
            "ended_by=ended",
        ],
    ),
    (
        "connections.catalogue",
        &[
            "definition/name",
            "definition/title",
            "definition/uri",
            "definition/description",
        ],
    ),
    ("connections.changes", &["tool", "offered_digest", "differences"]),
    (
        "connections.list",
        &[
            "namespace",
            "label",
            "url",
            "enabled",
            "trusted",
            "light",
            "health_code",
        ],
    ),
    ("connections.presets", &["id", "name", "publisher", "description"]),
    (
        "grants.list",
        &["agent", "connection", "tool", "kind", "permission"],
    ),
    (
        "keys.list",
        &["id", "name", "kind", "created_at", "last_used_at", "revoked_at"],
    ),
    (
        "invitations.list",
        &["id", "email", "role", "expires_at", "accepted_at", "revoked_at"],
    ),
    (
        "members.list",
        &["id", "email", "name", "role", "enabled", "signed_in_at"],
    ),
    (
        "phone.calls",
        &["created_at", "direction", "remote_number=number", "status", "id"],
    ),
    ("phone.transcript", &["at_ms=ms", "party", "text"]),
    (
        "voices.list",
        &["id", "name", "description", "available", "mcp_supported"],
    ),
    (
        "list_approvals",
        &["id", "agent", "tool", "arguments", "expires_at"],
    ),
    (
        "search_mcp_registry",
        &[
            "id",
            "name",
            "publisher",
            "publisher_verified=verified",
            "auth",
            "endpoint_url=url",
        ],
    ),
    (
        "skills.list",
        &[
            "slug",
            "title",
            "readiness",
            "archived",
            "owner_id=owner",
            "version",
        ],
    ),
    (
        "tools.list",
        &[
            "name",
            "risk",
            "effect",
            "classified",
            "definition",
            "view/decision",
            "view/reason",
        ],
    ),
];
/// Columns of a list that is not described above.
const MOST: usize = 8;

/// The columns of a list; those without any value are left out.
pub(super) fn columns(id: &str, items: &[Value]) -> Vec<Column> {
    let described = SHOWN
        .iter()
        .find(|(operation, _)| *operation == id)
        .map(|(_, fields)| *fields);
    let fields: Vec<String> = match described {
        Some(fields) => fields.iter().map(|field| (*field).to_owned()).collect(),
        None => items
            .first()
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|item| item.keys().cloned())
            .take(MOST)
            .collect(),
    };
    let columns = fields.iter().map(|field| {
        let (field, heading) = field
            .split_once('=')
            .unwrap_or((field, field.rsplit('/').next().unwrap_or(field)));
        Column {
            heading: heading.replace('_', " "),
            pointer: format!("/{field}"),
        }
    });
    columns
        .filter(|column| items.iter().any(|item| has(item, &column.pointer)))
        .collect()
}

fn has(item: &Value, pointer: &str) -> bool {
    item.pointer(pointer).is_some_and(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use domain::Surface;
    use serde_json::Value;

    use super::SHOWN;

    #[test]
    fn every_list_is_described_with_fields_it_has() {
        let registry = capabilities::registry().unwrap();
        for capability in registry.on(Surface::Cli).filter(|c| c.declaration.paged) {
            let id = capability.declaration.id;
            let (_, fields) = SHOWN
                .iter()
                .find(|(operation, _)| *operation == id)
                .unwrap_or_else(|| panic!("{id}"));
            let page = capability.output.as_ref().unwrap();
            let item = resolve(page, &page["properties"]["items"]["items"]);
            for field in *fields {
                let outer = field.split(['/', '=']).next().unwrap();
                assert!(item["properties"].get(outer).is_some(), "{id} has no {outer}");
            }
        }
    }

    fn resolve<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
        part["$ref"].as_str().map_or(part, |reference| {
            schema.pointer(reference.trim_start_matches('#')).unwrap()
        })
    }
}
