//! A server of skills (SEP-2640), written on rmcp: its digests and its checks are another implementation's. A test can change what it
//! serves, and what it says once it is asked.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    GetSkillRequestParams, GetSkillResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, Skill, SkillFrontmatter, SkillResource, SkillResources,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::loopback::Loopback;

/// A skill to serve.
#[derive(Debug, Clone)]
pub struct Served {
    /// Where it lies, as `acme/refunds`; the last part is its name.
    pub path: String,
    /// When to use it.
    pub description: String,
    /// The instructions.
    pub body: String,
    /// Its other files, by place.
    pub files: BTreeMap<String, String>,
    /// Whether `skills/list` shows it.
    pub listed: bool,
}

impl Served {
    /// A skill with these instructions and nothing else.
    #[must_use]
    pub fn new(path: &str, body: &str) -> Self {
        Self {
            path: path.to_owned(),
            description: format!("What to do about {path}"),
            body: body.to_owned(),
            files: BTreeMap::new(),
            listed: true,
        }
    }

    /// The same, with another file.
    #[must_use]
    pub fn with(mut self, place: &str, text: &str) -> Self {
        self.files.insert(place.to_owned(), text.to_owned());
        self
    }

    /// The same, not listed.
    #[must_use]
    pub const fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }

    /// The URI of its `SKILL.md`.
    #[must_use]
    pub fn uri(&self) -> String {
        self.file("SKILL.md")
    }

    fn file(&self, place: &str) -> String {
        format!("skill://{}/{place}", self.path)
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn text(&self) -> String {
        format!(
            "---\nname: {}\ndescription: {}\n---\n{}",
            self.name(),
            self.description,
            self.body
        )
    }

    /// Every file by its URI.
    fn texts(&self) -> Vec<(String, String)> {
        let others = self
            .files
            .iter()
            .map(|(place, text)| (self.file(place), text.clone()));
        std::iter::once((self.uri(), self.text())).chain(others).collect()
    }

    fn entry(&self) -> Skill {
        let texts = self.texts();
        let files = texts
            .iter()
            .map(|(uri, text)| SkillResource::from_bytes(uri, text.as_bytes()));
        Skill::new(
            self.uri(),
            SkillFrontmatter::new(self.name(), self.description.clone()),
            SkillResources::Files(files.collect()),
        )
    }
}

#[derive(Debug, Default)]
struct State {
    skills: Vec<Served>,
    /// What is said in place of a file, whatever the manifest promises.
    instead: BTreeMap<String, String>,
    reads: Vec<String>,
}

/// The server. Dropping it closes its port.
#[derive(Debug)]
pub struct SkillServer {
    /// The MCP endpoint.
    pub url: String,
    state: Arc<Mutex<State>>,
    _loopback: Loopback,
}

impl SkillServer {
    /// Starts one on a port the system chooses.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub async fn start(skills: Vec<Served>) -> std::io::Result<Self> {
        let state = Arc::new(Mutex::new(State {
            skills,
            ..State::default()
        }));
        let handler = Shelf(state.clone());
        let service = StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let loopback = Loopback::start(0, move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        })
        .await?;
        Ok(Self {
            url: format!("http://{}/mcp", loopback.address()),
            state,
            _loopback: loopback,
        })
    }

    /// Serves these from now on.
    pub fn now_serves(&self, skills: Vec<Served>) {
        lock(&self.state).skills = skills;
    }

    /// Says this in place of a file, whatever the manifest promises.
    pub fn says_instead(&self, uri: &str, text: &str) {
        lock(&self.state).instead.insert(uri.to_owned(), text.to_owned());
    }

    /// Every URI that was read, in order.
    #[must_use]
    pub fn reads(&self) -> Vec<String> {
        lock(&self.state).reads.clone()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone)]
struct Shelf(Arc<Mutex<State>>);

impl ServerHandler for Shelf {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_skills()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Vec::new()))
    }

    async fn list_skills(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let state = lock(&self.0);
        let listed = state.skills.iter().filter(|skill| skill.listed);
        Ok(ListSkillsResult::with_all_items(
            listed.map(Served::entry).collect(),
        ))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let state = lock(&self.0);
        let found = state.skills.iter().find(|skill| skill.uri() == request.uri);
        let found = found.ok_or_else(|| ErrorData::invalid_params("no such skill", None))?;
        Ok(GetSkillResult::new(found.entry()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let mut state = lock(&self.0);
        state.reads.push(request.uri.clone());
        let uri = request.uri;
        let served = state
            .skills
            .iter()
            .flat_map(Served::texts)
            .find(|(known, _)| *known == uri);
        let text = state.instead.get(&uri).cloned().or(served.map(|(_, text)| text));
        let text = text.ok_or_else(|| ErrorData::resource_not_found("no such file", None))?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]).into())
    }
}
