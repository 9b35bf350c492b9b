//! One server of any dialect that writes an object per server.

use serde_json::{Map, Value};

use super::command;
use super::compose::Composer;
use super::draft::Draft;
use super::fields::Fields;
use super::launch::Launch;
use super::manner::Manner;
use super::remainder;
use super::remote;
use super::settings;

/// Reads everything the common fields say; the dialect may have taken fields of its own before.
pub(super) fn read(fields: &mut Fields<'_>, manner: &Manner, composer: Composer<'_>, draft: &mut Draft) {
    settings::read(fields, manner, draft);
    let stated = stated(fields, draft);
    let command = fields.has("command");
    let address = remote::address(fields, manner, draft);
    match (stated, command, address) {
        (Stated::WebSocket, ..) => draft.note(
            "transport.websocket",
            "ws is no transport of MCP; give the server's http address if it has one",
        ),
        (Stated::Unknown(word), ..) => {
            draft.note(
                "transport.unknown",
                format!("the transport {word} is not known; use stdio, http or sse"),
            );
        }
        (Stated::Stdio, true, _) => command::read(fields, manner, composer, draft),
        (Stated::Stdio, false, Some(_)) | (Stated::Remote(_), true, None) => draft.note(
            "transport.mismatch",
            "the stated transport needs another kind of address than the entry has; correct one of them",
        ),
        (Stated::Remote(transport), _, Some(address)) => {
            remote::read(fields, composer, (address, Some(transport)), draft);
        }
        (Stated::Not, true, Some(address)) if manner.url_wins => {
            draft.note(
                "launch.ambiguous",
                "both a command and a url; as in the client, the url was taken",
            );
            remote::read(fields, composer, (address, None), draft);
        }
        (Stated::Not, true, Some(_)) => {
            draft.note(
                "launch.ambiguous",
                "both a command and a url; remove one of them and import again",
            );
        }
        (Stated::Not, true, None) => command::read(fields, manner, composer, draft),
        (Stated::Not, false, Some(address)) => remote::read(fields, composer, (address, None), draft),
        (Stated::Stdio | Stated::Remote(_) | Stated::Not, false, None) => {
            draft.note("launch.nothing", "neither a command nor a url: nothing to launch");
        }
    }
    let leftover_ok = matches!(draft.launch, Launch::None);
    remainder::report(fields, leftover_ok, draft);
}

/// The transport an entry states.
enum Stated {
    Not,
    Stdio,
    Remote(Wire),
    WebSocket,
    Unknown(String),
}

/// A stated remote transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// Some word for Streamable HTTP; what it means in full is the client's manner.
    Http,
    Sse,
}

fn stated(fields: &mut Fields<'_>, draft: &mut Draft) -> Stated {
    let mut stated = Stated::Not;
    for key in ["type", "transport", "transportType"] {
        let Some(word) = fields.text(key, &mut draft.notices) else {
            continue;
        };
        let plain: String = word
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(40)
            .collect::<String>()
            .to_lowercase();
        let this = match plain.as_str() {
            "stdio" | "local" | "command" => Stated::Stdio,
            "http" | "https" | "streamablehttp" | "streamable" | "httpstream" | "remote" => {
                Stated::Remote(Wire::Http)
            }
            "sse" | "httpsse" => Stated::Remote(Wire::Sse),
            "ws" | "wss" | "websocket" => Stated::WebSocket,
            _ => Stated::Unknown(super::notice::printable(word, 40)),
        };
        if matches!(stated, Stated::Not) {
            stated = this;
        }
    }
    stated
}

/// An object written in layers (`transport: {type, url}`, `command: {path, args}`) as one; what stands outside wins.
pub(super) fn hoist(
    map: &Map<String, Value>,
    layer: &str,
    renames: &[(&str, &str)],
) -> Option<Map<String, Value>> {
    let inner = map.get(layer)?.as_object()?;
    let mut flat = map.clone();
    flat.remove(layer);
    for (key, value) in inner {
        let name = renames
            .iter()
            .find(|(theirs, _)| theirs == key)
            .map_or(key.as_str(), |(_, ours)| ours);
        flat.entry(name).or_insert_with(|| value.clone());
    }
    Some(flat)
}
