//! What people chose for a run: prompts with their arguments, text resources and skills, read at its beginning to go with its
//! instructions. It is information; no tool, grant or permission comes of it.

use std::sync::Arc;

use connections::skill::resource_text;
use domain::{Arguments, Call, CallId, ConnectionId, Digest, Label, SelectedPrompt, Selection, Target};
use futures::StreamExt as _;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::call::{Asked, Exchange, Held, ReplyBody, ToolReply};
use crate::prompt;
use crate::{Gateway, LoadedSkill, PromptMessage, View};

/// Bytes of one resource or prompt.
const PART_BYTES: u64 = 256 * 1024;
/// Bytes of everything.
const ALL_BYTES: usize = 1024 * 1024;
/// How many are read at a time.
const AT_A_TIME: usize = 8;

/// Everything that was chosen, as far as it can be had.
#[derive(Debug, Clone, Default)]
pub struct SelectedContext {
    /// What there is, in the order of the connections' age and of what was chosen there.
    pub parts: Vec<ContextPart>,
    /// What was chosen and is not there.
    pub missing: Vec<Missing>,
}

/// One part, and where it came from.
#[derive(Debug, Clone)]
pub struct ContextPart {
    /// Whose.
    pub connection: ConnectionId,
    /// What people call that connection. It is shown with the part: servers write these texts.
    pub label: Label,
    /// The part.
    pub content: PartContent,
}

/// What a part is.
#[derive(Debug, Clone)]
pub enum PartContent {
    /// A prompt's messages, with their roles.
    Prompt {
        /// The upstream's own name.
        name: Arc<str>,
        /// The messages.
        messages: Vec<PromptMessage>,
    },
    /// A resource's text.
    Resource {
        /// Its URI.
        uri: Arc<str>,
        /// The text.
        text: String,
    },
    /// A skill, loaded.
    Skill(Box<LoadedSkill>),
}

/// Something that was chosen and is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Whose.
    pub connection: ConnectionId,
    /// `prompt`, `resource` or `skill`.
    pub kind: &'static str,
    /// Its name or URI.
    pub name: Arc<str>,
    /// Why, for people and models.
    pub why: String,
}

/// Something to read.
enum Chosen {
    Prompt(SelectedPrompt),
    Resource(Arc<str>),
    Skill(Arc<str>),
}

impl Chosen {
    fn all(selection: &Selection) -> Vec<Self> {
        let prompts = selection.prompts.iter().cloned().map(Self::Prompt);
        let resources = selection.resources.iter().cloned().map(Self::Resource);
        let skills = selection
            .skills
            .iter()
            .map(|skill| Self::Skill(skill.uri.clone()));
        prompts.chain(resources).chain(skills).collect()
    }

    fn kind_and_name(&self) -> (&'static str, &Arc<str>) {
        match self {
            Self::Prompt(prompt) => ("prompt", &prompt.name),
            Self::Resource(uri) => ("resource", uri),
            Self::Skill(uri) => ("skill", uri),
        }
    }
}

impl PartContent {
    fn bytes(&self) -> usize {
        match self {
            Self::Prompt { messages, .. } => messages.iter().map(|message| message.text.len()).sum(),
            Self::Resource { text, .. } => text.len(),
            Self::Skill(loaded) => loaded.text.len(),
        }
    }
}

impl Gateway {
    /// Reads everything that was chosen at the connections of a view. Each reading is a call of its own; what fails is missing and
    /// stands in nobody's way.
    pub async fn selected_context(&self, view: &Arc<View>, exchange: &Exchange) -> SelectedContext {
        let contexts = view.snapshot().contexts.iter();
        let chosen: Vec<(ConnectionId, Chosen)> = contexts
            .filter_map(|access| Some((access.connection, access.offered.selection()?)))
            .flat_map(|(id, selection)| Chosen::all(selection).into_iter().map(move |chosen| (id, chosen)))
            .collect();
        let reading = futures::stream::iter(chosen).map(|(id, chosen)| async move {
            let read = Box::pin(self.read_chosen(view, id, &chosen, exchange.clone())).await;
            (id, chosen, read)
        });
        let read: Vec<_> = reading.buffered(AT_A_TIME).collect().await;
        let mut all = SelectedContext::default();
        let mut left = ALL_BYTES;
        for (connection, chosen, read) in read {
            let label = view.workspace.connection(connection).map(|c| c.label.clone());
            let content = read.and_then(|content| match left.checked_sub(content.bytes()) {
                Some(rest) => {
                    left = rest;
                    Ok(content)
                }
                None => Err(format!("all that was chosen has more than {ALL_BYTES} bytes")),
            });
            match (content, label) {
                (Ok(content), Some(label)) => all.parts.push(ContextPart {
                    connection,
                    label,
                    content,
                }),
                (content, _) => {
                    let (kind, name) = chosen.kind_and_name();
                    all.missing.push(Missing {
                        connection,
                        kind,
                        name: name.clone(),
                        why: content.err().unwrap_or_default(),
                    });
                }
            }
        }
        all
    }

    /// Reads a prompt of a connection, with arguments, as messages. For runs: what is not text is left out.
    ///
    /// # Errors
    /// What came of the call instead.
    pub async fn prompt_messages(
        &self,
        view: &Arc<View>,
        connection: ConnectionId,
        prompt: &SelectedPrompt,
        exchange: Exchange,
    ) -> Result<Vec<PromptMessage>, Box<ToolReply>> {
        let known = view.prompts().iter();
        let known = known
            .filter(|p| p.connection == connection)
            .any(|p| p.name == prompt.name);
        let params = json!({ "name": &*prompt.name, "arguments": prompt.arguments.iter()
            .map(|(name, value)| (name.to_string(), value.to_string().into())).collect::<serde_json::Map<_, _>>() });
        let target = Target::Prompt {
            connection,
            name: prompt.name.clone(),
        };
        let call = call(view, &exchange, ("prompts/get", target), &params);
        if !known {
            return Err(Box::new(self.unknown_context(view, &call)));
        }
        let reply = self
            .read_context(view, call, exchange, Asked::Held(Held::Prompt))
            .await;
        result(&reply)
            .and_then(|raw| prompt::read(raw).ok())
            .ok_or(Box::new(reply))
    }

    /// Reads a text resource of a connection. For runs: what is binary, or larger than 256 KiB, is refused.
    ///
    /// # Errors
    /// What came of the call instead.
    pub async fn resource_text(
        &self,
        view: &Arc<View>,
        connection: ConnectionId,
        uri: &str,
        exchange: Exchange,
    ) -> Result<String, Box<ToolReply>> {
        let known = view
            .resources()
            .iter()
            .any(|r| r.connection == connection && &*r.name == uri);
        let target = Target::Resource {
            connection,
            uri: uri.into(),
        };
        let call = call(
            view,
            &exchange,
            ("resources/read", target),
            &json!({ "uri": uri }),
        );
        if !known {
            return Err(Box::new(self.unknown_context(view, &call)));
        }
        let held = Held::Text {
            uri: uri.into(),
            limit: PART_BYTES,
        };
        let reply = self.read_context(view, call, exchange, Asked::Held(held)).await;
        let text = result(&reply).and_then(|raw| resource_text(raw, uri, PART_BYTES).ok());
        text.ok_or(Box::new(reply))
    }

    async fn read_chosen(
        &self,
        view: &Arc<View>,
        id: ConnectionId,
        chosen: &Chosen,
        exchange: Exchange,
    ) -> Result<PartContent, String> {
        let read = match chosen {
            Chosen::Prompt(prompt) => {
                let messages = self.prompt_messages(view, id, prompt, exchange).await;
                messages.map(|messages| PartContent::Prompt {
                    name: prompt.name.clone(),
                    messages,
                })
            }
            Chosen::Resource(uri) => {
                let text = self.resource_text(view, id, uri, exchange).await;
                text.map(|text| PartContent::Resource {
                    uri: uri.clone(),
                    text,
                })
            }
            Chosen::Skill(uri) => {
                let loaded = self.load_skill(view, (id, uri), exchange).await;
                loaded.map(|loaded| PartContent::Skill(Box::new(loaded)))
            }
        };
        read.map_err(|reply| said(*reply))
    }
}

fn said(reply: ToolReply) -> String {
    match reply.body {
        ReplyBody::Notice(notice) => notice.text,
        ReplyBody::Error(error) => error.message,
        ReplyBody::Approval(notice) => notice.text,
        ReplyBody::Result(_) | ReplyBody::InputRequired(_) => "the server's answer cannot be used".to_owned(),
    }
}

fn result(reply: &ToolReply) -> Option<&RawValue> {
    match &reply.body {
        ReplyBody::Result(raw) => Some(raw),
        ReplyBody::InputRequired(_) | ReplyBody::Error(_) | ReplyBody::Notice(_) | ReplyBody::Approval(_) => {
            None
        }
    }
}

fn call(
    view: &View,
    exchange: &Exchange,
    (method, target): (&str, Target),
    params: &serde_json::Value,
) -> Call {
    let params: Box<RawValue> = to_raw_value(params).unwrap_or_default();
    Call {
        id: CallId::generate(),
        principal: view.key.principal,
        agent: Some(view.agent.id),
        channel: view.key.channel,
        surface: None,
        run: exchange.run,
        exposed: target.name().clone(),
        target,
        definition: Digest::of(method.as_bytes()),
        arguments: Arguments::new(params).unwrap_or_else(|_| Arguments::empty()),
    }
}
