//! Zed: `context_servers` in two shapes, servers of extensions, switches for tools by profile.

use serde_json::{Map, Value};

use crate::import::compose::Composer;
use crate::import::dialect::Dialect;
use crate::import::draft::{Draft, Drafts};
use crate::import::fields::Fields;
use crate::import::manner;
use crate::import::server::hoist;
use crate::import::servers;
use crate::import::settings;

pub(super) fn read(root: &Map<String, Value>, drafts: &mut Drafts) {
    let manner = manner::of(Dialect::Zed);
    let composer = Composer {
        syntax: manner.syntax,
        keyring: &[],
    };
    super::found(Dialect::Zed, root, drafts, &["agent"], |map, draft| {
        if is_extension(map) {
            read_extension(map, draft);
            return;
        }
        // The older form nests path, args and env under command.
        let flat = hoist(map, "command", &[("path", "command")]);
        servers::read_with(
            flat.as_ref().unwrap_or(map),
            &manner,
            composer,
            draft,
            |fields, _| {
                fields.take("source");
            },
        );
    });
    let profiles = root
        .get("agent")
        .and_then(|agent| agent.get("profiles"))
        .and_then(Value::as_object);
    for (profile, settings) in profiles.into_iter().flatten() {
        switches(profile, settings, drafts);
    }
}

fn is_extension(map: &Map<String, Value>) -> bool {
    map.get("source").and_then(Value::as_str) == Some("extension")
        || (map.contains_key("settings") && !servers::is_server(map))
}

fn read_extension(map: &Map<String, Value>, draft: &mut Draft) {
    let mut fields = Fields::new(map, &[], draft.path.clone());
    settings::read(&mut fields, &manner::of(Dialect::Zed), draft);
    let keys = map
        .get("settings")
        .and_then(Value::as_object)
        .map(|s| s.keys().cloned().collect::<Vec<_>>().join(", "));
    let text = format!(
        "an extension of the editor brings this server: nothing to launch; its settings ({}) were not taken over",
        keys.unwrap_or_default(),
    );
    draft.note("launch.extension", text);
}

fn switches(profile: &str, settings: &Value, drafts: &mut Drafts) {
    let servers = settings.get("context_servers").and_then(Value::as_object);
    for (name, server) in servers.into_iter().flatten() {
        let Some(tools) = server.get("tools").and_then(Value::as_object) else {
            continue;
        };
        let Some(draft) = drafts.entries.iter_mut().find(|draft| draft.name == *name) else {
            continue;
        };
        let switches = tools
            .iter()
            .filter_map(|(tool, on)| Some((tool.clone(), on.as_bool()?)));
        draft
            .tools
            .profiles
            .entry(profile.to_owned())
            .or_default()
            .extend(switches);
        let text = format!(
            "profile {profile} switches single tools of this server; shown, not applied: make a toolbelt of it"
        );
        draft.note("field.not-carried", text);
    }
}
