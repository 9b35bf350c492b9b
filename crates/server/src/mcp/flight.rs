//! A call under way, and what is heard of it meanwhile.

use std::sync::Arc;
use std::time::Duration;

use domain::{ApprovalId, CallEvents, Digest, Principal};
use futures::future::BoxFuture;
use gateway::{ContextRequest, Exchange, Gateway, ToolReply, ToolRequest, View};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::client::Client;
use super::ears::{Ears, Heard};

/// What is asked of an upstream. Kept, because it may have to be asked again with what the client answered.
#[derive(Clone)]
pub(super) enum Ask {
    /// A tool call.
    Tool {
        name: Arc<str>,
        arguments: Option<Box<RawValue>>,
    },
    /// A request about a prompt or resource.
    Context {
        method: &'static str,
        subject: Arc<str>,
        params: Box<RawValue>,
    },
}

/// Members of params that answer an earlier `input_required`.
pub(super) type Extras = Vec<(Arc<str>, Arc<RawValue>)>;

/// A call under way. Dropping it cancels the call.
pub(super) struct Flight {
    call: Option<BoxFuture<'static, ToolReply>>,
    landed: Option<ToolReply>,
    ears: Arc<Ears>,
}

/// How a call starts.
pub(super) struct Start {
    pub(super) ask: Ask,
    pub(super) extras: Extras,
    /// Whose answer to wait for first.
    pub(super) after: Option<(Principal, ApprovalId)>,
}

/// How long a repeated call waits for the answer of a person.
const PATIENCE: Duration = Duration::from_secs(60);

async fn wait(gateway: &Gateway, after: Option<(Principal, ApprovalId)>) {
    if let Some((principal, approval)) = after {
        // Whatever came of it: the call itself is decided anew.
        drop(gateway.wait_for_answer(&principal, approval, PATIENCE).await);
    }
}

/// What comes next of a call.
pub(super) enum Step {
    /// The upstream said something.
    Heard(Heard),
    /// It is over, and everything was heard.
    Done(ToolReply),
    /// It is over, and that was told before.
    Over,
}

impl Ask {
    /// The method.
    pub(super) const fn method(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tools/call",
            Self::Context { method, .. } => method,
        }
    }

    /// What says that a repeated request is the same.
    pub(super) fn digest(&self) -> Digest {
        let (subject, raw) = match self {
            Self::Tool { name, arguments } => (name, arguments.as_ref()),
            Self::Context { subject, params, .. } => (subject, Some(params)),
        };
        let value: Value = raw
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        let value = if value.is_null() { json!({}) } else { value };
        Digest::of_json(&json!([self.method(), &**subject, value]))
    }
}

impl Flight {
    /// Starts a call; after a question was answered, where one is named, or after a minute.
    pub(super) fn start(gateway: &Gateway, view: &Arc<View>, client: &Client, start: Start) -> Self {
        let Start { ask, extras, after } = start;
        let ears = Arc::new(Ears::of(client));
        let events: Arc<dyn CallEvents> = ears.clone();
        let exchange = Exchange {
            events,
            progress: client.progress.is_some(),
            client: client.context.clone(),
            session: client.session.as_ref().map(|session| session.id.clone()),
            run: None,
            timeout: None,
            extras,
        };
        let (gateway, view) = (gateway.clone(), view.clone());
        let call: BoxFuture<'static, ToolReply> = match ask {
            Ask::Tool { name, arguments } => {
                let request = ToolRequest {
                    name,
                    arguments,
                    exchange,
                };
                Box::pin(async move {
                    wait(&gateway, after).await;
                    gateway.call(&view, request).await
                })
            }
            Ask::Context {
                method,
                subject,
                params,
            } => {
                let request = ContextRequest {
                    method: method.into(),
                    subject,
                    params,
                    exchange,
                };
                Box::pin(async move {
                    wait(&gateway, after).await;
                    gateway.context(&view, request).await
                })
            }
        };
        Self {
            call: Some(call),
            landed: None,
            ears,
        }
    }

    /// What comes next. Nothing is lost when this is dropped before it is ready.
    pub(super) async fn next(&mut self) -> Step {
        if let Some(call) = &mut self.call {
            tokio::select! {
                biased;
                heard = self.ears.heard() => return Step::Heard(heard),
                reply = call => self.landed = Some(reply),
            }
            self.call = None;
        }
        // What was said before the answer goes before the answer.
        match self.ears.pop() {
            Some(heard) => Step::Heard(heard),
            None => self.landed.take().map_or(Step::Over, Step::Done),
        }
    }

    /// Passes on what is said to another request of the same client.
    pub(super) fn readdress(&self, client: &Client) {
        self.ears.readdress(client);
    }

    /// What was said and not yet passed on.
    pub(super) fn said(&self) -> Option<Heard> {
        self.ears.pop()
    }

    /// Lets the call go on to its end while nobody listens.
    pub(super) async fn land(&mut self) {
        if let Some(call) = &mut self.call {
            let reply = call.await;
            self.landed = Some(reply);
            self.call = None;
        }
    }
}
