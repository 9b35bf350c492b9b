//! Where an incoming message belongs.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::session::Session;
use super::{Answer, Channel, Events, LineSource, LogLine, Responder, ServerRequest};
use crate::error::RequestError;
use crate::version::Era;
use crate::wire::{self, Incoming, Object, RpcError, Salvaged, codes, raw, salvage};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The call whose own stream a message came on.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    pub(crate) id: u64,
    pub(crate) events: &'a Arc<dyn Events>,
    pub(crate) http_status: Option<u16>,
}

impl Session {
    /// Takes a message from a stream that all calls share. Whatever it is, the session survives it.
    pub(crate) fn receive(self: &Arc<Self>, bytes: &[u8]) {
        let whole = wire::each(bytes, |message| match message {
            Ok(Incoming::Response {
                id: Some(id),
                outcome,
            }) => {
                let answer = outcome
                    .map(ToOwned::to_owned)
                    .map_err(|error| failed(error, None));
                if !self.calls.complete(id, answer) && !self.gave_out(id) {
                    self.remark(&format!("the server answered request {id}, which was never sent"));
                }
            }
            Ok(Incoming::Response { id: None, outcome }) => self.unaddressed(outcome.map(drop)),
            Ok(Incoming::Notification { method, params }) => self.notified(&method, params, None),
            Ok(Incoming::Request { id, method, params }) => self.asked(id, method, params, None),
            Err(error) => self.remark(&format!("a message was skipped: {error}")),
        });
        if let Err(error) = whole {
            let source = match &self.channel {
                Channel::Pipe(_) => LineSource::Stdout,
                Channel::Streamable(_) | Channel::Sse(_) => LineSource::Protocol,
            };
            self.note(LogLine::cut(source, bytes));
            // An answer that is not JSON (`NaN`, a repeated key) is at least an answer to somebody.
            if let Salvaged::Answer(id) = salvage(bytes, bytes) {
                self.calls
                    .complete(id, Err(RequestError::Malformed(error.to_string())));
            }
        }
    }

    /// Takes a message from a call's own stream; returns the call's answer if this is it.
    pub(crate) fn receive_for(
        self: &Arc<Self>,
        own: Own<'_>,
        bytes: &[u8],
    ) -> Result<Option<Answer>, String> {
        let (mut found, mut skipped) = (None, None);
        let whole = wire::each(bytes, |message| match message {
            // On a stream of its own, an error without an id can only mean this call.
            Ok(Incoming::Response { id, outcome })
                if id == Some(own.id) || (id.is_none() && outcome.is_err()) =>
            {
                found = Some(
                    outcome
                        .map(ToOwned::to_owned)
                        .map_err(|error| failed(error, own.http_status)),
                );
            }
            Ok(Incoming::Response {
                id: Some(id),
                outcome,
            }) => {
                let answer = outcome
                    .map(ToOwned::to_owned)
                    .map_err(|error| failed(error, None));
                if !self.calls.complete(id, answer) {
                    self.remark(&format!(
                        "the server answered request {id} on the stream of another"
                    ));
                }
            }
            Ok(Incoming::Response { id: None, outcome }) => self.unaddressed(outcome.map(drop)),
            Ok(Incoming::Notification { method, params }) => self.notified(&method, params, Some(own)),
            Ok(Incoming::Request { id, method, params }) => self.asked(id, method, params, Some(own)),
            Err(error) => {
                self.remark(&format!("a message was skipped: {error}"));
                skipped = Some(error.to_string());
            }
        });
        whole.map_err(|error| error.to_string())?;
        match (found, skipped) {
            // What cannot be read may have been the answer.
            (None, Some(skipped)) => Err(skipped),
            (found, _) => Ok(found),
        }
    }

    fn unaddressed(&self, outcome: Result<(), RpcError>) {
        match outcome {
            Ok(()) => self.remark("the server sent a result that names no request"),
            Err(error) => self.remark(&format!("the server sent an {error} that names no request")),
        }
    }

    fn notified(&self, method: &str, params: Option<&RawValue>, own: Option<Own<'_>>) {
        let events = match method {
            "notifications/progress" => field(params, "progressToken")
                .and_then(|token| self.calls.events_of(token))
                .or_else(|| own.map(|own| Arc::clone(own.events))),
            "notifications/cancelled" => return self.withdrawn(method, params),
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated"
            | "notifications/subscriptions/acknowledged"
            | "notifications/elicitation/complete" => match subscription(params) {
                Some(id) => self.calls.events_of(id),
                None => return self.listener.notification(method, params),
            },
            _ => match own {
                Some(own) => Some(Arc::clone(own.events)),
                None => match self.calls.only() {
                    Some((_, events)) => Some(events),
                    None => return self.listener.notification(method, params),
                },
            },
        };
        // Progress of a call that is over, or news for a subscription that is over, is nobody's.
        if let Some(events) = events {
            events.notification(method, params);
        }
    }

    /// The server takes back a request of its own, or (2026-07-28) ends a subscription.
    fn withdrawn(&self, method: &str, params: Option<&RawValue>) {
        let Some(id) = params
            .and_then(|params| Object::parse(params).ok())
            .and_then(|mut params| params.remove("requestId"))
        else {
            return;
        };
        if let Some(owner) = self.calls.asked_of(id.get()) {
            self.calls.answered(id.get());
            match owner {
                Some(events) => events.notification(method, params),
                None => self.listener.notification(method, params),
            }
        } else if let Some(call) = id.get().trim_matches('"').parse().ok().filter(|_| self.modern()) {
            let reason = "the server ended the subscription".to_owned();
            self.calls
                .complete(call, Err(RequestError::Closed { reason, sent: true }));
        }
    }

    fn asked(
        self: &Arc<Self>,
        id: &RawValue,
        method: String,
        params: Option<&RawValue>,
        own: Option<Own<'_>>,
    ) {
        if self.modern() {
            // Modern servers may not ask, and we may not answer.
            return self.remark(&format!(
                "the server sent a request ({method}), which its protocol version forbids"
            ));
        }
        match method.as_str() {
            "ping" => return self.reply(id.get(), &raw(&Object::new()).map_err(internal)),
            "sampling/createMessage" | "elicitation/create" | "roots/list" => {}
            _ => {
                self.remark(&format!(
                    "the server sent a request outside the standard: {method}"
                ));
                let error = RpcError::new(codes::METHOD_NOT_FOUND, "this client does not know the method");
                return self.reply(id.get(), &Err(error));
            }
        }
        let owner = own
            .map(|own| (own.id, Arc::clone(own.events)))
            .or_else(|| self.calls.only());
        if !self.calls.ask(id.get(), owner.as_ref().map(|(call, _)| *call)) {
            let error = RpcError::new(
                codes::INVALID_REQUEST,
                "too many open requests, or one with this id is open",
            );
            return self.dispatch(wire::failure(id.get(), &error));
        }
        let responder = Responder::new(Arc::downgrade(self), id.get().to_owned());
        let request = ServerRequest {
            method,
            params: params.map(ToOwned::to_owned),
            responder,
        };
        match owner {
            Some((_, events)) => events.request(request),
            None => self.listener.request(request),
        }
    }

    fn modern(&self) -> bool {
        self.agreed_version()
            .is_some_and(|version| version.era() == Era::Modern)
    }
}

fn failed(error: RpcError, http_status: Option<u16>) -> RequestError {
    RequestError::Rpc {
        code: error.code,
        message: error.message,
        data: error.data,
        http_status,
    }
}

fn internal(error: wire::WireError) -> RpcError {
    RpcError::new(codes::INTERNAL_ERROR, error.to_string())
}

/// A number at the top of the parameters, also where a server made a string of it.
fn field(params: Option<&RawValue>, key: &str) -> Option<u64> {
    number(Object::parse(params?).ok()?.get(key)?)
}

fn subscription(params: Option<&RawValue>) -> Option<u64> {
    let params = Object::parse(params?).ok()?;
    number(Object::parse(params.get("_meta")?).ok()?.get(SUBSCRIPTION)?)
}

fn number(raw: &RawValue) -> Option<u64> {
    raw.get().trim_matches('"').parse().ok()
}
