//! Continue: a list of servers, some of them blocks of its hub.

use serde_json::{Map, Value};

use crate::import::compose::Composer;
use crate::import::dialect::Dialect;
use crate::import::draft::{Draft, Drafts};
use crate::import::manner::{self, Manner, TimeoutUnit};
use crate::import::model::{Input, InputKind};
use crate::import::server::hoist;
use crate::import::servers;
use crate::import::settings;
use crate::import::template::ReferenceKind;

pub(super) fn read(root: &Map<String, Value>, drafts: &mut Drafts) {
    let manner = manner::of(Dialect::Continue);
    super::found(
        Dialect::Continue,
        root,
        drafts,
        &["name", "version", "schema"],
        |map, draft| one(map, &manner, draft),
    );
    let mut wanted = Vec::new();
    for draft in &drafts.entries {
        for (_, template) in draft.launch.templates() {
            let inputs = template
                .references()
                .filter(|reference| reference.kind == ReferenceKind::Input);
            wanted.extend(inputs.map(|reference| reference.name.clone()));
        }
    }
    wanted.sort();
    wanted.dedup();
    let ask = |id| Input {
        id,
        kind: InputKind::Text,
        description: None,
        default: None,
    };
    drafts.inputs.extend(wanted.into_iter().map(ask));
}

fn one(map: &Map<String, Value>, manner: &Manner, draft: &mut Draft) {
    if map.contains_key("uses") && !servers::is_server(map) {
        draft.note(
            "launch.hub-block",
            "uses names a block of Continue's hub: nothing to launch; add the server itself",
        );
        return;
    }
    let composer = Composer {
        syntax: manner.syntax,
        keyring: &[],
    };
    let flat = hoist(map, "requestOptions", &[("timeout", "requestOptions.timeout")]);
    servers::read_with(
        flat.as_ref().unwrap_or(map),
        manner,
        composer,
        draft,
        |fields, draft| {
            fields.take("name");
            if let Some((value, path)) = fields.take("connectionTimeout") {
                draft.timeouts.connect_ms =
                    settings::timeout(value, TimeoutUnit::Milliseconds, &path, &mut draft.notices);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use crate::import::{Source, parse};

    #[test]
    fn inputs_are_asked_for_once() {
        let text =
            "mcpServers:\n  - name: a\n    command: x\n    args: ['${{ inputs.P }}', '${{ inputs.P }}']\n";
        let import = parse(&Source {
            file_name: "config.yaml",
            bytes: text.as_bytes(),
            dialect: None,
        })
        .expect("parses");
        assert_eq!(
            import
                .inputs
                .iter()
                .map(|input| input.id.as_str())
                .collect::<Vec<_>>(),
            ["P"]
        );
    }
}
