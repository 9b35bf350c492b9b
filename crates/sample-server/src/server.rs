//! The notebook as an MCP server: five tools, a prompt, a resource and a resource template.

use rmcp::handler::server::router::prompt::PromptRouter;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{
    Implementation, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ProgressNotificationParam, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, prompt, prompt_handler, prompt_router, tool, tool_handler,
    tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::notebook::{Note, Notebook};

/// The sample server: one notebook and what MCP can do with it. Clones share the notebook.
#[derive(Debug, Clone)]
pub(crate) struct SampleServer {
    notebook: Notebook,
    tool_router: ToolRouter<Self>,
    prompt_router: PromptRouter<Self>,
}

impl SampleServer {
    /// A server over a fresh notebook holding the first-steps notes.
    pub(crate) fn new() -> Self {
        Self {
            notebook: Notebook::seeded(),
            tool_router: Self::tool_router(),
            prompt_router: Self::prompt_router(),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchNotes {
    /// Words that must all occur in a note; leave out to list every note
    #[serde(default)]
    query: String,
    /// How many notes to return at most
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

fn ten() -> u32 {
    10
}

#[derive(Debug, Deserialize, JsonSchema)]
struct NoteId {
    /// The note's identifier, as `search_notes` gives it
    id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct NewNote {
    /// The title of the note
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// Its text, Markdown
    #[schemars(length(max = 20000))]
    body: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundNotes {
    /// The notes found, in order of identifier
    notes: Vec<FoundNote>,
    /// How many notes match, those beyond the limit included
    total: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundNote {
    /// The identifier to give to the other tools
    id: String,
    /// The title
    title: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExportedNotes {
    /// Every note, one Markdown section each
    markdown: String,
    /// How many notes that were
    notes: usize,
}

#[tool_router]
impl SampleServer {
    /// Find notes by their words, or list them all. Gives identifiers and titles.
    #[tool(annotations(
        title = "Search notes",
        read_only_hint = true,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn search_notes(
        &self,
        Parameters(SearchNotes { query, limit }): Parameters<SearchNotes>,
    ) -> Json<FoundNotes> {
        let found = self.notebook.search(&query);
        let total = found.len();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let notes = found
            .into_iter()
            .take(limit)
            .map(|Note { id, title, .. }| FoundNote { id, title });
        Json(FoundNotes {
            notes: notes.collect(),
            total,
        })
    }

    /// Read one note.
    #[tool(annotations(
        title = "Read a note",
        read_only_hint = true,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn read_note(&self, Parameters(NoteId { id }): Parameters<NoteId>) -> Result<Json<Note>, String> {
        self.notebook.read(&id).map(Json).ok_or_else(|| no_such_note(&id))
    }

    /// Put all notes into one Markdown document. Reports its progress note by note.
    #[tool(annotations(
        title = "Export all notes",
        read_only_hint = true,
        destructive_hint = false,
        idempotent_hint = true,
        open_world_hint = false
    ))]
    async fn export_notes(&self, context: RequestContext<RoleServer>) -> Json<ExportedNotes> {
        let notes = self.notebook.all();
        let mut markdown = String::new();
        for (done, note) in notes.iter().enumerate() {
            markdown.push_str(&format!("# {}\n\n{}\n\n", note.title, note.body));
            report_progress(&context, done + 1, notes.len(), &note.title).await;
        }
        Json(ExportedNotes {
            markdown,
            notes: notes.len(),
        })
    }

    /// Add a note to the notebook and give back its identifier.
    #[tool(annotations(
        title = "Write a note",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = false,
        open_world_hint = false
    ))]
    async fn write_note(
        &self,
        Parameters(NewNote { title, body }): Parameters<NewNote>,
    ) -> Result<Json<Note>, String> {
        if title.trim().is_empty() {
            return Err("a note needs a title".to_owned());
        }
        Ok(Json(self.notebook.add(title.trim(), &body)))
    }

    /// Delete a note. It cannot be brought back. Gives back what the note was.
    #[tool(annotations(
        title = "Delete a note",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = false,
        open_world_hint = false
    ))]
    async fn delete_note(&self, Parameters(NoteId { id }): Parameters<NoteId>) -> Result<Json<Note>, String> {
        self.notebook
            .delete(&id)
            .map(Json)
            .ok_or_else(|| no_such_note(&id))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct FirstSteps {
    /// What you want your agents to be able to do
    goal: Option<String>,
}

#[prompt_router]
impl SampleServer {
    /// A first conversation with the notebook.
    #[prompt]
    async fn first_steps(
        &self,
        Parameters(FirstSteps { goal }): Parameters<FirstSteps>,
    ) -> Vec<PromptMessage> {
        let goal = goal.map(|goal| format!(" I want to {goal}.")).unwrap_or_default();
        vec![PromptMessage::new_text(
            Role::User,
            format!(
                "Search the notes, read the ones that help, and tell me in a few sentences how to go on with \
                 Switchboard.{goal} Then try to delete the note `welcome` and explain what happened."
            ),
        )]
    }
}

#[tool_handler(router = self.tool_router)]
#[prompt_handler(router = self.prompt_router)]
impl ServerHandler for SampleServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .build();
        let implementation = Implementation::new("switchboard-sample", env!("CARGO_PKG_VERSION"))
            .with_title("Sample notebook")
            .with_description("A notebook in memory, to try things out with");
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(
                "A small notebook. Its notes explain the first steps; search_notes finds them.",
            )
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let index = Resource::new(INDEX, "index")
            .with_title("All notes")
            .with_description("The notes' identifiers and titles")
            .with_mime_type("text/markdown");
        Ok(ListResourcesResult::with_all_items(vec![index]))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let note = ResourceTemplate::new("notes://note/{id}", "note")
            .with_title("One note")
            .with_description("The text of a note")
            .with_mime_type("text/markdown");
        Ok(ListResourceTemplatesResult::with_all_items(vec![note]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let text = if uri == INDEX {
            let notes = self.notebook.all();
            Some(
                notes
                    .iter()
                    .map(|note| format!("- [{}](notes://note/{})\n", note.title, note.id))
                    .collect(),
            )
        } else {
            uri.strip_prefix("notes://note/")
                .and_then(|id| self.notebook.read(id))
                .map(|note| note.body)
        };
        let text: String = text.ok_or_else(|| {
            ErrorData::resource_not_found(format!("there is no resource {uri}; read {INDEX}"), None)
        })?;
        let contents = ResourceContents::text(text, uri).with_mime_type("text/markdown");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

const INDEX: &str = "notes://index";

fn no_such_note(id: &str) -> String {
    format!("there is no note `{id}`; search_notes gives the identifiers")
}

async fn report_progress(context: &RequestContext<RoleServer>, done: usize, total: usize, title: &str) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let count = |value: usize| u32::try_from(value).map_or(f64::MAX, f64::from);
    let progress = ProgressNotificationParam::new(token, count(done))
        .with_total(count(total))
        .with_message(title);
    // Progress is a courtesy: a client that has gone away learns nothing from an error here.
    drop(context.peer.notify_progress(progress).await);
}
