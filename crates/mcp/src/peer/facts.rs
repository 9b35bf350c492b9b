//! What a server says about itself.

use serde_json::value::RawValue;

use crate::wire::{Object, WireError, raw};

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// What a server said about itself when the session began. Untrusted text, for display.
#[derive(Clone, Debug)]
pub struct ServerFacts {
    /// Its `Implementation` object, untouched; `{}` if it gave none.
    pub info: Box<RawValue>,
    /// Its capabilities object, untouched; `{}` if it gave none.
    pub capabilities: Box<RawValue>,
    /// Its guidance for models, if any.
    pub instructions: Option<String>,
    /// The name in `info`; empty if it gave none.
    pub name: String,
    /// The version in `info`; empty if it gave none.
    pub version: String,
    declared: Object,
}

impl ServerFacts {
    /// Reads an `initialize` or `server/discover` result.
    pub(crate) fn read(result: &Object) -> Result<Self, WireError> {
        let stamped = result.get("_meta").and_then(|meta| Object::parse(meta).ok());
        let info = match stamped.and_then(|mut meta| meta.remove(SERVER_INFO)) {
            Some(info) => info,
            None => owned_or_empty(result.get("serverInfo"))?,
        };
        let capabilities = owned_or_empty(result.get("capabilities"))?;
        let named = Object::parse(&info).unwrap_or_default();
        Ok(Self {
            name: named.text("name").unwrap_or_default(),
            version: named.text("version").unwrap_or_default(),
            declared: Object::parse(&capabilities).unwrap_or_default(),
            instructions: result.text("instructions"),
            info,
            capabilities,
        })
    }

    /// Whether a capability (`tools`, `prompts`, `resources`, `completions`, `logging` …) was declared.
    pub fn declares(&self, capability: &str) -> bool {
        self.declared.get(capability).is_some_and(on)
    }

    /// Whether an extension (`io.modelcontextprotocol/skills` …) was declared (SEP-2133).
    pub fn declares_extension(&self, id: &str) -> bool {
        self.declared
            .get("extensions")
            .and_then(|value| Object::parse(value).ok())
            .is_some_and(|extensions| extensions.get(id).is_some_and(on))
    }

    /// Whether a flag of a capability is set, for example `resources`, `subscribe`.
    pub fn declares_flag(&self, capability: &str, flag: &str) -> bool {
        self.declared
            .get(capability)
            .and_then(|value| Object::parse(value).ok())
            .and_then(|fields| fields.read::<bool>(flag))
            .unwrap_or(false)
    }
}

fn on(value: &RawValue) -> bool {
    !matches!(value.get(), "null" | "false")
}

fn owned_or_empty(value: Option<&RawValue>) -> Result<Box<RawValue>, WireError> {
    match value {
        Some(value) if value.get().starts_with('{') => Ok(value.to_owned()),
        _ => raw(&Object::new()),
    }
}
