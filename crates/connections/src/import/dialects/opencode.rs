//! opencode: two shapes, and globs over tools at the root.

use serde_json::{Map, Value};

use crate::import::compose::Composer;
use crate::import::dialect::Dialect;
use crate::import::draft::{Draft, Drafts};
use crate::import::fields::Fields;
use crate::import::manner;
use crate::import::servers;
use crate::import::settings;

pub(super) fn read(dialect: Dialect, root: &Map<String, Value>, drafts: &mut Drafts) {
    let manner = manner::of(dialect);
    let composer = Composer {
        syntax: manner.syntax,
        keyring: &[],
    };
    super::found(dialect, root, drafts, &["tools"], |map, draft| {
        if map.keys().all(|key| key == "enabled" || key == "disabled") && !map.is_empty() {
            let mut fields = Fields::new(map, &[], draft.path.clone());
            settings::read(&mut fields, &manner, draft);
            draft.note(
                "entry.switch-only",
                "only a switch: it overrides a server the organisation defines elsewhere; nothing to launch",
            );
        } else {
            servers::read_map(map, &manner, composer, draft);
        }
    });
    let switches = root.get("tools").and_then(Value::as_object);
    for (pattern, on) in switches.into_iter().flatten() {
        let Some(on) = on.as_bool() else { continue };
        for draft in &mut drafts.entries {
            switch(pattern, on, draft);
        }
    }
}

/// Tools are called SERVER_TOOL; a pattern may name one, some or all of a server's tools.
fn switch(pattern: &str, on: bool, draft: &mut Draft) {
    let prefix: String = draft
        .name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .chain(['_'])
        .collect();
    let head = pattern.split('*').next().unwrap_or_default();
    let denied = match pattern.strip_prefix(prefix.as_str()) {
        Some(tool) if !tool.is_empty() => tool,
        _ if pattern.len() == head.len() + 1 && prefix.starts_with(head) => "*",
        _ => return,
    };
    if !on {
        draft.tools.deny.push(denied.to_owned());
    } else if !draft.tools.deny.is_empty() {
        draft.note(
            "tools.pattern",
            "a later pattern switches tools on again; not taken over, check the denied tools",
        );
    }
}
