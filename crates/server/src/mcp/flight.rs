//! A call under way, and what is heard of it meanwhile.

use std::sync::Arc;

use domain::CallEvents;
use futures::future::BoxFuture;
use gateway::{ContextRequest, Exchange, Gateway, ToolReply, ToolRequest, View};
use serde_json::value::RawValue;

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

/// What comes next of a call.
pub(super) enum Step {
    /// The upstream said something.
    Heard(Heard),
    /// It is over, and everything was heard.
    Done(ToolReply),
    /// It is over, and that was told before.
    Over,
}

impl Flight {
    /// Starts a call.
    pub(super) fn start(gateway: &Gateway, view: &Arc<View>, client: &Client, ask: Ask, extras: Extras) -> Self {
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
                let request = ToolRequest { name, arguments, exchange };
                Box::pin(async move { gateway.call(&view, request).await })
            }
            Ask::Context { method, subject, params } => {
                let request = ContextRequest { method: method.into(), subject, params, exchange };
                Box::pin(async move { gateway.context(&view, request).await })
            }
        };
        Self { call: Some(call), landed: None, ears }
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
