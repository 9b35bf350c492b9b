//! One recorded server and its answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::catalogue_server::paging::{Page, page};

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The file cannot be read.
    #[error("a recording cannot be read")]
    Read(#[from] std::io::Error),
    /// It is not JSON, or not of the recording's shape.
    #[error("a recording does not have the expected shape")]
    Shape(#[from] serde_json::Error),
    /// A recorded answer to `server/discover` is not a result.
    #[error("a recorded answer to server/discover has no result")]
    NoResult,
}

/// How a server answers `server/discover`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Discovery {
    /// With this result; from then on requests of the 2026-07-28 revision are served.
    Result(Arc<RawValue>),
    /// With a JSON-RPC error: -32601, -32602 or another.
    Error {
        /// The HTTP status that carries it
        status: u16,
        /// The JSON-RPC error code
        code: i64,
    },
    /// Never. The request stays open until its client gives up.
    Never,
}

/// What to do with one message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replay {
    /// Send this response.
    Answer {
        /// The HTTP status; meaningless on other transports
        status: u16,
        /// The whole JSON-RPC message
        message: String,
    },
    /// Send nothing: it was a notification or a response.
    Nothing,
    /// Send nothing, ever, and keep the request open.
    Silence,
}

/// A recorded server. Clones share the recording.
#[derive(Debug, Clone)]
pub struct Catalogue {
    recording: Arc<Recording>,
    modern_tools: Option<Arc<RawValue>>,
    discovery: Discovery,
    page_size: Option<usize>,
}

impl Catalogue {
    /// Takes one file of recordings: `{meta, initialize, toolsPages, promptsPages, resourcesPages,
    /// resourceTemplatesPages}`. It answers `server/discover` with -32601 until told otherwise.
    ///
    /// # Errors
    ///
    /// If the text is not of that shape.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let recording = Arc::new(serde_json::from_str(text)?);
        let discovery = Discovery::Error {
            status: 200,
            code: -32601,
        };
        Ok(Self {
            recording,
            modern_tools: None,
            discovery,
            page_size: None,
        })
    }

    /// Answers `server/discover` in this way.
    #[must_use]
    pub fn with_discovery(mut self, discovery: Discovery) -> Self {
        self.discovery = discovery;
        self
    }

    /// Takes the answers to `server/discover` and, where recorded, `tools/list` of the 2026-07-28 revision from a file
    /// `{discoverResponse, toolsListResponse}` of whole JSON-RPC responses.
    ///
    /// # Errors
    ///
    /// If the text is not of that shape or the answer to `server/discover` is an error.
    pub fn with_recorded_discovery(mut self, text: &str) -> Result<Self, CatalogueError> {
        let recorded: RecordedDiscovery = serde_json::from_str(text)?;
        let result = recorded
            .discover_response
            .result
            .ok_or(CatalogueError::NoResult)?;
        self.discovery = Discovery::Result(result);
        self.modern_tools = recorded.tools_list_response.and_then(|response| response.result);
        Ok(self)
    }

    /// Serves lists in pages of so many items instead of as they were recorded. Items stay byte for byte the same.
    #[must_use]
    pub fn with_page_size(mut self, items: usize) -> Self {
        self.page_size = Some(items.max(1));
        self
    }

    /// The recorded result of `initialize`.
    #[must_use]
    pub fn initialize(&self) -> &RawValue {
        &self.recording.initialize
    }

    /// How it answers `server/discover`.
    #[must_use]
    pub fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// The recorded tools, over all pages, each as the bytes that came.
    ///
    /// # Errors
    ///
    /// If a recorded page is no list of tools.
    pub fn tools(&self) -> Result<Vec<Box<RawValue>>, CatalogueError> {
        self.items("tools/list", false)
    }

    /// Everything recorded for one list method, over all pages, each as the bytes that came: what a client of the
    /// 2026-07-28 revision is shown, or an older one.
    ///
    /// # Errors
    ///
    /// If a recorded page is no such list.
    pub fn items(&self, method: &str, modern: bool) -> Result<Vec<Box<RawValue>>, CatalogueError> {
        let (key, pages) = self.pages(method, modern);
        let mut items = Vec::new();
        for page in pages {
            let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(page.get())?;
            if let Some(list) = fields.remove(key) {
                items.extend(serde_json::from_str::<Vec<Box<RawValue>>>(list.get())?);
            }
        }
        Ok(items)
    }

    /// The code of the error recorded for a list method, if that is what was answered.
    #[must_use]
    pub fn list_error(&self, method: &str) -> Option<i64> {
        self.recording
            .meta
            .list_errors
            .get(method)
            .map(|error| error.code)
    }

    /// What the server does with one JSON-RPC message.
    #[must_use]
    pub fn answer(&self, message: &str) -> Replay {
        let Ok(message) = serde_json::from_str::<Message<'_>>(message) else {
            return failure("null", 400, -32700, "not a JSON-RPC message");
        };
        let (Some(id), Some(method)) = (message.id, message.method.as_deref()) else {
            return Replay::Nothing;
        };
        let (id, params) = (id.get(), message.params.as_ref());
        match method {
            "initialize" => success(id, self.recording.initialize.get()),
            "server/discover" => match &self.discovery {
                Discovery::Result(result) => success(id, result.get()),
                Discovery::Error { status, code } => {
                    failure(id, *status, *code, "server/discover is not known here")
                }
                Discovery::Never => Replay::Silence,
            },
            "ping" | "logging/setLevel" => success(id, "{}"),
            "tools/call" => success(id, &called(params)),
            "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
                self.list(id, method, params)
            }
            _ => failure(id, 200, -32601, "Method not found"),
        }
    }

    fn list(&self, id: &str, method: &str, params: Option<&Params<'_>>) -> Replay {
        let modern = params.is_some_and(Params::is_modern);
        let (key, pages) = self.pages(method, modern);
        if pages.is_empty() {
            return match self.recording.meta.list_errors.get(method) {
                Some(error) => failure(id, 200, error.code, &error.message),
                None => failure(id, 200, -32601, "Method not found"),
            };
        }
        let cursor = params.and_then(|params| params.cursor.as_deref());
        match page(key, &pages, self.page_size, cursor) {
            // What was recorded of a modern server is complete.
            Page::Recorded(text) if modern && !self.has_modern(method) => {
                success(id, &with_modern_fields(text))
            }
            Page::Recorded(text) => success(id, text),
            Page::Cut(text) if modern => success(id, &with_modern_fields(&text)),
            Page::Cut(text) => success(id, &text),
            Page::NoSuchCursor => failure(id, 200, -32602, "unknown cursor"),
        }
    }

    fn pages(&self, method: &str, modern: bool) -> (&'static str, Vec<&RawValue>) {
        let (key, pages) = self.recording.pages(method);
        match &self.modern_tools {
            Some(tools) if modern && self.has_modern(method) => (key, vec![tools]),
            _ => (key, pages.iter().flatten().map(AsRef::as_ref).collect()),
        }
    }

    /// Whether the list was recorded apart for the 2026-07-28 revision.
    fn has_modern(&self, method: &str) -> bool {
        method == "tools/list" && self.modern_tools.is_some()
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recording {
    #[serde(default)]
    meta: Meta,
    initialize: Box<RawValue>,
    tools_pages: Option<Vec<Box<RawValue>>>,
    prompts_pages: Option<Vec<Box<RawValue>>>,
    resources_pages: Option<Vec<Box<RawValue>>>,
    resource_templates_pages: Option<Vec<Box<RawValue>>>,
}

impl Recording {
    fn pages(&self, method: &str) -> (&'static str, &Option<Vec<Box<RawValue>>>) {
        match method {
            "prompts/list" => ("prompts", &self.prompts_pages),
            "resources/list" => ("resources", &self.resources_pages),
            "resources/templates/list" => ("resourceTemplates", &self.resource_templates_pages),
            _ => ("tools", &self.tools_pages),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Meta {
    list_errors: BTreeMap<String, RecordedError>,
}

#[derive(Debug, Deserialize)]
struct RecordedError {
    code: i64,
    message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedDiscovery {
    discover_response: RecordedResponse,
    tools_list_response: Option<RecordedResponse>,
}

#[derive(Debug, Deserialize)]
struct RecordedResponse {
    result: Option<Arc<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Debug, Deserialize)]
struct Params<'a> {
    name: Option<String>,
    cursor: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(rename = "_meta", default)]
    meta: BTreeMap<String, serde_json::Value>,
}

impl Params<'_> {
    fn is_modern(&self) -> bool {
        self.meta
            .get("io.modelcontextprotocol/protocolVersion")
            .is_some_and(|version| version == "2026-07-28")
    }
}

fn called(params: Option<&Params<'_>>) -> String {
    let name = params
        .and_then(|params| params.name.as_deref())
        .unwrap_or_default();
    let arguments = params
        .and_then(|params| params.arguments)
        .map_or("{}", RawValue::get);
    let text = |text: &str| serde_json::json!({ "type": "text", "text": text });
    let content = [text(&format!("called {name}")), text(arguments)];
    serde_json::json!({ "resultType": "complete", "content": content }).to_string()
}

/// Puts what the 2026-07-28 revision demands of a list, as far as it was not recorded, before what was.
fn with_modern_fields(text: &str) -> String {
    let demanded = [
        ("resultType", r#""complete""#),
        ("ttlMs", "0"),
        ("cacheScope", r#""private""#),
    ];
    let recorded: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
    let missing = demanded.iter().filter(|(key, _)| !recorded.contains_key(*key));
    let added: String = missing
        .map(|(key, value)| format!(r#""{key}":{value},"#))
        .collect();
    let rest = text.trim_start().strip_prefix('{').unwrap_or_default();
    format!("{{{added}{rest}")
}

fn success(id: &str, result: &str) -> Replay {
    Replay::Answer {
        status: 200,
        message: format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
    }
}

fn failure(id: &str, status: u16, code: i64, message: &str) -> Replay {
    let error = serde_json::json!({ "code": code, "message": message });
    Replay::Answer {
        status,
        message: format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
    }
}
