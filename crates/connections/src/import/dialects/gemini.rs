//! Gemini CLI: servers filtered by lists at the root.

use serde_json::{Map, Value};

use crate::import::compose::Composer;
use crate::import::dialect::Dialect;
use crate::import::draft::Drafts;
use crate::import::fields::Fields;
use crate::import::manner;
use crate::import::notice::Path;
use crate::import::servers;

pub(super) fn read(root: &Map<String, Value>, drafts: &mut Drafts) {
    let manner = manner::of(Dialect::Gemini);
    let composer = Composer {
        syntax: manner.syntax,
        keyring: &[],
    };
    super::found(Dialect::Gemini, root, drafts, &["mcp"], |map, draft| {
        servers::read_map(map, &manner, composer, draft)
    });
    if let Some(filter) = root.get("mcp").and_then(Value::as_object) {
        apply(filter, drafts);
    }
}

fn apply(filter: &Map<String, Value>, drafts: &mut Drafts) {
    let mut fields = Fields::new(filter, &[], Path::default().child("mcp"));
    let allowed = fields.texts("allowed", &mut drafts.report);
    let excluded = fields.texts("excluded", &mut drafts.report).unwrap_or_default();
    for draft in &mut drafts.entries {
        if excluded.contains(&draft.name) {
            draft.enabled = Some(false);
            draft.note("server.not-allowed", "named in mcp.excluded: switched off");
        } else if allowed.as_ref().is_some_and(|list| !list.contains(&draft.name)) {
            draft.enabled = Some(false);
            draft.note("server.not-allowed", "not named in mcp.allowed: switched off");
        }
    }
    for (key, value) in fields.rest() {
        // Another client's servers may lie under the same key; `locate` has spoken of them.
        if !value.is_object() {
            let text = "this setting for all servers was not taken over";
            drafts
                .report
                .add("field.not-carried", &fields.path().child(key), text);
        }
    }
}
