//! What the kernel keeps about a tool beside the policy's facts: its definition and its compiled schema.

use std::sync::{Arc, OnceLock};

use connections::preset::Adapter;
use connections::schema::{SchemaProblem, Schemas, Validator, Violation};
use domain::Digest;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::operate::unusable;

/// A tool that can be called.
#[derive(Debug, Clone)]
pub(crate) enum KnownTool {
    /// A built-in, by the id of its capability.
    Capability {
        /// Its id.
        id: &'static str,
        /// Its definition as an MCP tool.
        definition: Arc<RawValue>,
    },
    /// A tool of a connection.
    Imported(Arc<Imported>),
}

impl KnownTool {
    /// What a preset does with its arguments.
    pub(crate) fn adapter(&self) -> Option<&Adapter> {
        match self {
            Self::Capability { .. } => None,
            Self::Imported(imported) => imported.adapter.as_ref(),
        }
    }

    /// Its title and description, as its definition has them.
    pub(crate) fn said(&self) -> (Option<String>, Option<String>) {
        #[derive(Default, serde::Deserialize)]
        struct Said {
            title: Option<String>,
            description: Option<String>,
        }
        let raw = match self {
            Self::Capability { definition, .. } => definition,
            Self::Imported(imported) => &imported.definition,
        };
        let said: Said = serde_json::from_str(raw.get()).unwrap_or_default();
        (said.title, said.description)
    }
}

/// An imported tool: its definition as callers see it, and its schemas compiled at the first call.
#[derive(Debug)]
pub(crate) struct Imported {
    /// As callers see it: pinned, and narrowed where a preset narrows it.
    pub(crate) definition: Arc<RawValue>,
    /// What a preset does with its arguments.
    pub(crate) adapter: Option<Adapter>,
    /// As it is pinned.
    pinned: Arc<RawValue>,
    digest: Digest,
    validators: OnceLock<Result<Vec<Arc<Validator>>, SchemaProblem>>,
}

impl Imported {
    pub(crate) fn new(pinned: Arc<RawValue>, digest: Digest, adapter: Option<Adapter>) -> Self {
        let narrowed = adapter.as_ref().and_then(|adapter| adapter.definition(&pinned));
        Self {
            definition: narrowed.unwrap_or_else(|| pinned.clone()),
            adapter,
            pinned,
            digest,
            validators: OnceLock::new(),
        }
    }

    /// Checks arguments against the schema callers see and, where that is another one, against the pinned one too: a preset narrows
    /// and never widens.
    pub(crate) fn check(&self, schemas: &Schemas, arguments: &Value) -> Result<(), Vec<Violation>> {
        let validators = self.validators.get_or_init(|| self.compile(schemas));
        let validators = validators
            .as_ref()
            .map_err(|problem| vec![unusable(problem.to_string())])?;
        let refused = self.adapter.as_ref().map(|adapter| adapter.refusals(arguments));
        if let Some(refused) = refused.filter(|refused| !refused.is_empty()) {
            return Err(refused);
        }
        validators
            .iter()
            .try_for_each(|validator| validator.check(arguments))
    }

    fn compile(&self, schemas: &Schemas) -> Result<Vec<Arc<Validator>>, SchemaProblem> {
        let mut compiled = Vec::with_capacity(2);
        if !Arc::ptr_eq(&self.definition, &self.pinned) {
            let digest = Digest::of(self.definition.get().as_bytes());
            compiled.push(input_schema(&self.definition, |raw| schemas.get(digest, raw))?);
        }
        compiled.push(input_schema(&self.pinned, |raw| schemas.get(self.digest, raw))?);
        Ok(compiled)
    }
}

/// Finds `inputSchema` in a raw definition; a definition without one takes any object.
fn input_schema<T>(definition: &RawValue, compile: impl FnOnce(&RawValue) -> T) -> T {
    #[derive(serde::Deserialize)]
    struct Shape<'a> {
        #[serde(borrow, rename = "inputSchema")]
        input_schema: Option<&'a RawValue>,
    }
    let found = serde_json::from_str::<Shape<'_>>(definition.get())
        .ok()
        .and_then(|shape| shape.input_schema);
    match found {
        Some(raw) => compile(raw),
        None => {
            let any: Box<RawValue> = serde_json::value::to_raw_value(&Value::Bool(true)).unwrap_or_default();
            compile(&any)
        }
    }
}
