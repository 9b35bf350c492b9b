//! One text of a client's file as a value of ours: plain, a reference, or a secret on its way to the vault.

use connections::import::{Fallback, Reference, ReferenceKind, Template};
use domain::{Namespace, Secret};

use crate::config::{EnvValue, SecretSource};

/// What became of a text.
#[derive(Debug)]
pub(super) struct Value {
    /// None where it cannot be said without guessing.
    pub(super) value: Option<EnvValue>,
    /// What goes into the vault, by the name the value refers to.
    pub(super) secret: Option<(String, Secret)>,
    /// What is left for a person.
    pub(super) ask: Option<Ask>,
}

/// Something only a person can say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ask {
    /// The vault lacks a secret of this name; the words say what it is.
    Vault {
        /// The name.
        name: String,
        /// What it is.
        what: String,
    },
    /// Something else, in a sentence.
    Do(String),
}

/// Takes a text at a place (`env/NAME`, `args/0`) of an entry.
pub(super) fn take(template: &Template, place: &str, namespace: &Namespace) -> Value {
    let name = format!("{namespace}/{place}");
    if template.references().next().is_none() {
        let text = exposed(template);
        return if template.holds_secret() {
            secret(name, text)
        } else {
            plain(text)
        };
    }
    match template.as_reference() {
        Some(reference) => one(reference, place, name),
        None => open(
            place,
            &template.shown(),
            "mixes text with a value that only the client knows",
        ),
    }
}

/// A value that must be asked for.
pub(super) fn wanted(name: String, what: String) -> Value {
    Value {
        value: Some(vault(&name)),
        secret: None,
        ask: Some(Ask::Vault { name, what }),
    }
}

/// The text with its secrets, where nothing in it is a reference.
pub(super) fn whole(template: &Template) -> Option<Secret> {
    template
        .references()
        .next()
        .is_none()
        .then(|| Secret::new(exposed(template)))
}

fn exposed(template: &Template) -> String {
    template.render(|secret| secret.expose().to_owned())
}

fn plain(text: String) -> Value {
    Value {
        value: Some(EnvValue::Plain(text)),
        secret: None,
        ask: None,
    }
}

fn secret(name: String, text: String) -> Value {
    Value {
        value: Some(vault(&name)),
        secret: Some((name, Secret::new(text))),
        ask: None,
    }
}

fn vault(name: &str) -> EnvValue {
    EnvValue::Secret(SecretSource::Vault(name.to_owned()))
}

fn one(reference: &Reference, place: &str, name: String) -> Value {
    let shown = reference.shown();
    match (reference.kind, &reference.default) {
        (ReferenceKind::Environment, None) if reference.name.starts_with("SWITCHBOARD") => open(
            place,
            &shown,
            "is a setting of Switchboard itself, which is never passed on",
        ),
        (ReferenceKind::Environment, None) => {
            let value = EnvValue::Secret(SecretSource::Env(reference.name.clone()));
            Value {
                value: Some(value),
                secret: None,
                ask: None,
            }
        }
        (ReferenceKind::Environment, Some(Fallback::Text(_) | Fallback::Secret(_) | Fallback::Vault(_))) => {
            open(
                place,
                &shown,
                "has a default: choose between { env = … } and the default",
            )
        }
        (ReferenceKind::Input, _) => wanted(
            name,
            format!("{place} is what the client asks for as {:?}", reference.name),
        ),
        (ReferenceKind::Secret, _) => wanted(
            name,
            format!("{place} is kept by the client as {:?}", reference.name),
        ),
        (ReferenceKind::Client, _) => open(place, &shown, "is known only to the client"),
        (ReferenceKind::File, _) => open(place, &shown, "names a file that was not read: { file = … } can"),
        (ReferenceKind::Vault, _) => open(place, &shown, "refers to a vault that is not ours"),
    }
}

fn open(place: &str, shown: &str, why: &str) -> Value {
    Value {
        value: None,
        secret: None,
        ask: Some(Ask::Do(format!("{place}: {shown} {why}"))),
    }
}
