//! What the kernel keeps about a tool beside the policy's facts: its definition and its compiled schema.

use std::sync::{Arc, OnceLock};

use connections::schema::{SchemaProblem, Schemas, Validator};
use domain::Digest;
use serde_json::Value;
use serde_json::value::RawValue;

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

/// An imported tool: its pinned definition, and its schema compiled at the first call.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) definition: Arc<RawValue>,
    pub(crate) digest: Digest,
    validator: OnceLock<Result<Arc<Validator>, SchemaProblem>>,
}

impl Imported {
    pub(crate) fn new(definition: Arc<RawValue>, digest: Digest) -> Self {
        Self {
            definition,
            digest,
            validator: OnceLock::new(),
        }
    }

    /// The validator of its arguments.
    pub(crate) fn validator(&self, schemas: &Schemas) -> Result<&Arc<Validator>, &SchemaProblem> {
        self.validator
            .get_or_init(|| input_schema(&self.definition, |raw| schemas.get(self.digest, raw)))
            .as_ref()
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
