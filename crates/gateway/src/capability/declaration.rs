//! What a capability says about itself, with its schemas and its handler.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use connections::schema::{SchemaProblem, Schemas, Validator};
use domain::{Digest, Effect, Risk, Surface};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::work::Work;
use super::{Carried, Context, Failure};
use crate::ToolReply;

/// The HTTP method of a REST operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reads; input travels in path and query.
    Get,
    /// Creates or acts; input travels in path and body.
    Post,
    /// Replaces; input travels in path and body.
    Put,
    /// Changes given fields; input travels in path and body.
    Patch,
    /// Takes away; input travels in path and query.
    Delete,
}

impl Method {
    /// Whether input other than path parameters travels in the query.
    #[must_use]
    pub const fn input_in_query(self) -> bool {
        matches!(self, Self::Get | Self::Delete)
    }

    /// The method as HTTP writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What a capability does to the workspace, for the table of who may do what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Looks.
    Read,
    /// Administers: agents, keys, connections, grants, settings.
    Administer,
    /// Looks at, or administers, what can belong to one agent: that agent's own key may, on the compatible routes.
    Own,
    /// Answers for a person.
    Approve,
    /// Speaks for the workspace outside, in person: keys cannot.
    Represent,
    /// Lets a program act for oneself, in person: keys cannot.
    Consent,
    /// Uses a tool.
    Use,
}

/// Everything the surfaces need to know about a capability.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// Its id: `area.verb`, or a name the field already knows. Never reused.
    pub id: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// What it does, for people and models.
    pub description: &'static str,
    /// The REST method.
    pub method: Method,
    /// The REST path under `/api/v1`, with `{name}` for path parameters, which are fields of the input by the same name.
    pub path: &'static str,
    /// The HTTP status of success.
    pub success: u16,
    /// Whether the output is a page (`items`, `next_cursor`).
    pub paged: bool,
    /// Whether `Idempotency-Key` is honoured.
    pub idempotent: bool,
    /// How much harm it can do.
    pub risk: Risk,
    /// Whether it changes anything.
    pub effect: Effect,
    /// Where it exists.
    pub surfaces: &'static [Surface],
    /// What it does to the workspace.
    pub action: Action,
    /// The words of the command, where they are not the id's own parts.
    pub command: Option<&'static str>,
}

impl Declaration {
    /// The name as MCP tool and as operation id: the id with dots as underscores.
    #[must_use]
    pub fn tool_name(&self) -> String {
        self.id.replace('.', "_")
    }

    /// The command's words.
    #[must_use]
    pub fn command_words(&self) -> Vec<&'static str> {
        self.command.map_or_else(
            || self.id.split('.').collect(),
            |words| words.split(' ').collect(),
        )
    }

    /// Whether it exists on this surface.
    #[must_use]
    pub fn on(&self, surface: Surface) -> bool {
        self.surfaces.contains(&surface)
    }
}

/// A declared capability with its schemas and its handler.
#[derive(Clone)]
pub struct Capability {
    /// What it says about itself.
    pub declaration: Declaration,
    /// JSON Schema 2020-12 of its input.
    pub input: Arc<Value>,
    /// JSON Schema 2020-12 of its output; none when it answers without content.
    pub output: Option<Arc<Value>>,
    input_digest: Digest,
    work: Work,
}

impl Capability {
    /// Declares a capability whose handler takes `I` and answers `O`.
    pub fn new<I, O, F, R>(declaration: Declaration, handler: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Fn(Context, I) -> R + Send + Sync + Clone + 'static,
        R: Future<Output = Result<O, Failure>> + Send + 'static,
    {
        Self::of::<I, O>(declaration, Work::acts(handler))
    }

    /// Declares a capability that only carries a call of a tool: `find` says which call an input means, and `tell` what came of it.
    /// Access is decided by the declaration; the kernel then makes the call, which is the one entry of the record. What stops before
    /// that (no access, an input that does not fit, a call that is not found) is recorded as the capability's own.
    pub fn carrying<I, O>(
        declaration: Declaration,
        find: impl Fn(Context, I) -> Result<Carried, Failure> + Send + Sync + 'static,
        tell: impl Fn(ToolReply) -> O + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema,
        O: Serialize + JsonSchema,
    {
        Self::of::<I, O>(declaration, Work::carries(find, tell))
    }

    fn of<I: JsonSchema, O: JsonSchema>(declaration: Declaration, work: Work) -> Self {
        let output = schema_of::<O>();
        let empty = declaration.success == 204;
        let input = schema_of::<I>().to_value();
        Self {
            declaration,
            input_digest: Digest::of_json(&input),
            input: Arc::new(input),
            output: (!empty).then(|| Arc::new(output.to_value())),
            work,
        }
    }

    /// Whether it only carries a call.
    #[must_use]
    pub const fn carries(&self) -> bool {
        matches!(self.work, Work::Carries { .. })
    }

    /// The validator of its input.
    pub(crate) fn validator(&self, schemas: &Schemas) -> Result<Arc<Validator>, SchemaProblem> {
        let raw: Box<RawValue> = to_raw_value(&*self.input).unwrap_or_default();
        schemas.get(self.input_digest, &raw)
    }

    /// Runs the handler. Only the gateway does, after deciding and recording.
    pub(crate) async fn run(&self, context: Context, input: Value) -> Result<Value, Failure> {
        self.work.act(context, input).await
    }

    /// Finds the call it carries; none if it carries none.
    pub(crate) fn find(&self, context: Context, input: Value) -> Option<Result<Carried, Failure>> {
        self.work.find(context, input)
    }

    /// Its answer once the call it carries was made.
    pub(crate) fn tell(&self, reply: ToolReply) -> Result<Value, Failure> {
        self.work.tell(reply)
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capability")
            .field("declaration", &self.declaration)
            .finish_non_exhaustive()
    }
}

fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
}
