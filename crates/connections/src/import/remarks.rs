//! What a person must know about the references and secrets of an entry.

use std::collections::BTreeSet;

use super::draft::Draft;
use super::model::{Input, InputKind};
use super::syntax::looks_like_reference;
use super::template::{Part, ReferenceKind, Template};

/// Variables only the client knows, files, inputs that are commands or missing, and what only looks like a variable.
pub(super) fn references(draft: &mut Draft, inputs: &[Input]) {
    let mut told = BTreeSet::new();
    for (place, template) in draft.launch.templates() {
        let at = draft.path.place(&place);
        for part in template.parts() {
            let Some((code, name, text)) = remark(part, inputs) else {
                continue;
            };
            if told.insert((code, name)) {
                draft.notices.add(code, &at, text);
            }
        }
    }
}

/// What there is to say about one part: code, name, text.
fn remark(part: &Part, inputs: &[Input]) -> Option<(&'static str, String, String)> {
    let reference = match part {
        Part::Reference(reference) => reference,
        Part::Text(text) if looks_like_reference(text) => {
            let text =
                "this looks like a variable, but the client passes it on as it stands; so did the import"
                    .to_owned();
            return Some(("variable.not-expanded", String::new(), text));
        }
        Part::Text(_) | Part::Secret(_) => return None,
    };
    let name = reference.name.clone();
    match reference.kind {
        ReferenceKind::Client => {
            let text = format!("{name} is known only to the client; put the value in its place");
            Some(("variable.client-only", name, text))
        }
        ReferenceKind::File => {
            let text = format!(
                "{name} is the name of a file whose content the client takes; not read, put a secret in its place"
            );
            Some(("variable.file", name, text))
        }
        ReferenceKind::Input => match inputs.iter().find(|input| input.id == name) {
            None => {
                let text = format!("input {name} is not declared in this file; it has to be asked for");
                Some(("input.undefined", name, text))
            }
            Some(input) if input.kind == InputKind::Command => {
                let text =
                    format!("input {name} is a command of the client: not run; give the value instead");
                Some(("input.command", name, text))
            }
            Some(_) => None,
        },
        ReferenceKind::Environment | ReferenceKind::Secret | ReferenceKind::Vault => None,
    }
}

/// Secrets in clear, and those in a url.
pub(super) fn secrets(draft: &mut Draft) {
    let holding = |template: &&Template| template.holds_secret();
    let places: Vec<String> = draft
        .launch
        .templates()
        .into_iter()
        .filter(|(_, t)| holding(t))
        .map(|(place, _)| place)
        .collect();
    if places.is_empty() {
        return;
    }
    if places.iter().any(|place| place == "url") {
        draft.note(
            "url.credentials",
            "the url holds credentials; servers and proxies log urls, prefer a header",
        );
    }
    let text = format!(
        "secrets stand in clear in {}; they belong into the vault",
        places.join(", ")
    );
    draft.note("secret.literal", text);
}
