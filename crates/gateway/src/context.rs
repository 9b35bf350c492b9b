//! Prompts and resources: the same road as tools, by grants of their own.

use std::sync::Arc;

use connections::Relay;
use domain::{Arguments, Call, CallId, ConnectionId, Digest, Effect, Reason, ReasonCode, Risk, Target};
use policy::{CallFacts, Decision};
use serde_json::value::RawValue;

use crate::call::{Asked, ContextRequest, Exchange, ToolReply};
use crate::record::Decided;
use crate::skill::FileRead;
use crate::view::{Today, revoked};
use crate::{Gateway, View};

impl Gateway {
    /// Reads a prompt, a resource or a skill's file, completes an argument, or (un)subscribes, as the view allows.
    pub async fn context(&self, view: &Arc<View>, request: ContextRequest) -> ToolReply {
        if let Some(found) = skill_file(view, &request) {
            let asked = Asked::Held(found.held());
            return self
                .read_context(view, found.call(view, &request.exchange), request.exchange, asked)
                .await;
        }
        let Some(target) = resolve(view, &request) else {
            let target = Target::Prompt {
                connection: ConnectionId::from_uuid(uuid::Uuid::nil()),
                name: request.subject.clone(),
            };
            return self.unknown_context(view, &context_call(view, &request, target));
        };
        let asked = asked(&request.method);
        self.read_context(
            view,
            context_call(view, &request, target),
            request.exchange,
            asked,
        )
        .await
    }

    /// Decides a call of a prompt, resource or skill, in the view it began in and in today's, and makes it.
    pub(crate) async fn read_context(
        &self,
        view: &Arc<View>,
        call: Call,
        exchange: Exchange,
        asked: Asked,
    ) -> ToolReply {
        let today = self.today(view);
        let current = match &today {
            Today::Same => None,
            Today::Other(today) => Some(&today.effective),
            Today::Gone => return self.denied(&revoked(view, call)),
        };
        let facts = CallFacts {
            current,
            ..CallFacts::at(self.now())
        };
        match policy::decide_context(&view.effective, call, &facts) {
            Decision::Allow(permit) => self.run_context(view, permit, exchange, asked).await,
            Decision::Deny(denial) => self.denied(&denial),
            Decision::Ask(ask) => self.park(ask).await,
        }
    }

    /// Records a call of something the view does not show.
    pub(crate) fn unknown_context(&self, view: &View, call: &Call) -> ToolReply {
        self.write_denial(&Decided {
            call,
            decision: "deny",
            reason: &Reason::new(ReasonCode::UnknownTool),
            risk: Risk::Low,
            effect: Effect::ReadOnly,
            approval: None,
            epoch: view.snapshot().epoch,
            snapshot: Some(view.snapshot().digest),
        })
    }
}

/// A file of a skill the view shows to clients: it is read by that skill's manifest. Reading it activates nothing.
fn skill_file(view: &View, request: &ContextRequest) -> Option<FileRead> {
    if &*request.method != "resources/read" {
        return None;
    }
    let served = view.skills().iter().filter(|offered| offered.served);
    served
        .filter_map(|offered| FileRead::of(offered, offered.skill.file(&request.subject)?))
        .next()
}

fn asked(method: &str) -> Asked {
    match method {
        "completion/complete" => Asked::Beside(Relay::Complete),
        "resources/subscribe" => Asked::Beside(Relay::Subscribe),
        "resources/unsubscribe" => Asked::Beside(Relay::Unsubscribe),
        _ => Asked::Call,
    }
}

/// Finds what a request is about among what the view shows. A URI no list names goes to the template it fits, else to the one
/// connection whose resources the view may read.
fn resolve(view: &View, request: &ContextRequest) -> Option<Target> {
    let subject = &*request.subject;
    let prompt = || {
        let found = view.prompts().iter().find(|p| &*p.exposed == subject)?;
        Some(Target::Prompt {
            connection: found.connection,
            name: found.name.clone(),
        })
    };
    match &*request.method {
        "prompts/get" => prompt(),
        "completion/complete" if of_prompt(&request.params) => prompt(),
        _ => resource(view, subject),
    }
}

/// Whether a completion is for an argument of a prompt; else it is for one of a resource template.
fn of_prompt(params: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "ref")]
        reference: Reference<'a>,
    }
    #[derive(serde::Deserialize)]
    struct Reference<'a> {
        #[serde(borrow, rename = "type")]
        kind: std::borrow::Cow<'a, str>,
    }
    serde_json::from_str::<Params<'_>>(params.get()).is_ok_and(|params| params.reference.kind == "ref/prompt")
}

fn resource(view: &View, uri: &str) -> Option<Target> {
    let target = |connection| {
        Some(Target::Resource {
            connection,
            uri: Arc::from(uri),
        })
    };
    if let Some(listed) = view.resources().iter().find(|r| &*r.exposed == uri) {
        return target(listed.connection);
    }
    if let Some(template) = view
        .templates()
        .iter()
        .find(|t| &*t.exposed == uri || template_fits(&t.exposed, uri))
    {
        return target(template.connection);
    }
    let mut readable = view
        .snapshot()
        .contexts
        .iter()
        .filter(|c| c.reads_resource(uri))
        .map(|c| c.connection);
    match (readable.next(), readable.next()) {
        (Some(only), None) => target(only),
        _ => None,
    }
}

/// Whether a URI can come from a template (RFC 6570): its literal parts appear in order, anchored at both ends.
fn template_fits(template: &str, uri: &str) -> bool {
    let mut literals = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        literals.push(before);
        rest = after.split_once('}').map_or("", |(_, tail)| tail);
    }
    let (Some(first), last) = (literals.first().copied(), rest) else {
        return template == uri;
    };
    let Some(mut middle) = uri.strip_prefix(first).and_then(|u| u.strip_suffix(last)) else {
        return false;
    };
    for literal in literals.into_iter().skip(1).filter(|l| !l.is_empty()) {
        match middle.split_once(literal) {
            Some((_, tail)) => middle = tail,
            None => return false,
        }
    }
    true
}

fn context_call(view: &View, request: &ContextRequest, target: Target) -> Call {
    let params: Box<RawValue> = request.params.clone();
    Call {
        id: CallId::generate(),
        principal: view.key.principal,
        agent: Some(view.agent.id),
        channel: view.key.channel,
        surface: None,
        run: request.exchange.run,
        target,
        exposed: request.subject.clone(),
        definition: Digest::of(request.method.as_bytes()),
        arguments: Arguments::new(params).unwrap_or_else(|_| Arguments::empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::template_fits;

    #[test]
    fn templates() {
        let cases = [
            ("demo://text/{id}", "demo://text/7", true),
            ("demo://text/{id}", "demo://blob/7", false),
            ("file:///{+path}", "file:///a/b", true),
            ("a://{x}/y/{z}", "a://1/y/2", true),
            ("a://{x}/y/{z}", "a://1/n/2", false),
            ("a://{x}/end", "a://1/end", true),
            ("a://{x}/end", "a://1/other", false),
            ("plain", "plain", true),
            ("plain", "other", false),
        ];
        for (template, uri, fits) in cases {
            assert_eq!(template_fits(template, uri), fits, "{template} ~ {uri}");
        }
    }
}
