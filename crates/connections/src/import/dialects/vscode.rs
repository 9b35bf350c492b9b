//! VS Code: servers with inputs that are asked for once.

use serde_json::{Map, Value};

use crate::import::compose::Composer;
use crate::import::dialect::Dialect;
use crate::import::draft::Drafts;
use crate::import::fields::Fields;
use crate::import::manner;
use crate::import::model::{Input, InputKind};
use crate::import::notice::Path;
use crate::import::servers;
use crate::import::template::Fallback;
use domain::Secret;

pub(super) fn read(dialect: Dialect, root: &Map<String, Value>, drafts: &mut Drafts) {
    let nested = root.get("mcp").and_then(Value::as_object);
    let (holder, path) = match (dialect, nested) {
        (Dialect::VsCodeSettings, Some(nested)) => (nested, Path::default().child("mcp")),
        _ => (root, Path::default()),
    };
    inputs(holder, &path, drafts);
    let manner = manner::of(dialect);
    let composer = Composer {
        syntax: manner.syntax,
        keyring: &[],
    };
    super::found(dialect, root, drafts, &["inputs"], |map, draft| {
        servers::read_map(map, &manner, composer, draft)
    });
}

fn inputs(holder: &Map<String, Value>, path: &Path, drafts: &mut Drafts) {
    let Some(list) = holder.get("inputs").filter(|value| !value.is_null()) else {
        return;
    };
    let path = path.child("inputs");
    let Some(items) = list.as_array() else {
        drafts
            .report
            .add("field.wrong-type", &path, "inputs must be a list; not taken over");
        return;
    };
    for (index, item) in items.iter().enumerate() {
        let at = path.item(index);
        match item.as_object().and_then(|map| input(map, &at, drafts)) {
            Some(input) => drafts.inputs.push(input),
            None => drafts.report.add(
                "input.unclear",
                &at,
                "an input needs an id and a type; not taken over",
            ),
        }
    }
}

fn input(map: &Map<String, Value>, at: &Path, drafts: &mut Drafts) -> Option<Input> {
    let mut fields = Fields::new(map, &[], at.clone());
    let notices = &mut drafts.report;
    let id = fields.text("id", notices)?.to_owned();
    let kind = match fields.text("type", notices)? {
        "promptString" if fields.flag("password", notices) == Some(true) => InputKind::Secret,
        "promptString" => InputKind::Text,
        "pickString" => InputKind::Choice(options(&mut fields)),
        "command" => {
            notices.add(
                "input.command",
                at,
                format!("input {id} is a command of the client: not run; it will be asked for"),
            );
            fields.take("command");
            fields.take("args");
            InputKind::Command
        }
        _ => return None,
    };
    let default = fields.text("default", notices).map(|text| match kind {
        InputKind::Secret => Fallback::Secret(Secret::new(text)),
        InputKind::Text | InputKind::Choice(_) | InputKind::Command => Fallback::Text(text.to_owned()),
    });
    let description = fields.text("description", notices).map(str::to_owned);
    Some(Input {
        id,
        kind,
        description,
        default,
    })
}

/// Options are texts, or objects with a `value`.
fn options(fields: &mut Fields<'_>) -> Vec<String> {
    let items = fields.take("options").and_then(|(value, _)| value.as_array());
    let text = |item: &Value| {
        item.as_str()
            .or_else(|| item.get("value").and_then(Value::as_str))
            .map(str::to_owned)
    };
    items.into_iter().flatten().filter_map(text).collect()
}
