//! The act itself: recorded before, dispatched, recorded after.

use std::sync::Arc;

use connections::{Cleared, Dispatch, DispatchBody, Dispatched, Relay, SessionKey};
use domain::{Digest, Outcome, OutcomeCode, PeerError, Status, Surface, Target, ToolRef};
use policy::Permit;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use store::{IntentError, Recorded};

use super::Held;
use super::conclude::{Stopped, record_unavailable, withheld};
use super::{Exchange, Notice, ReplyBody};
use crate::record::{Decided, End};
use crate::{Context, Failure, Gateway, View};

/// What is asked of a cleared target.
#[derive(Debug, Clone)]
pub(crate) enum Asked {
    /// The call itself: `tools/call`, `prompts/get`, `resources/read`.
    Call,
    /// A request beside it: completing an argument, hearing of changes.
    Beside(Relay),
    /// The call itself, whose result counts only if it holds.
    Held(Held),
}

/// A call that ran.
pub(super) struct Finished {
    pub(super) outcome: Outcome,
    pub(super) body: ReplyBody,
}

impl Gateway {
    /// Runs a permitted call. One that may change something, or that spends an approval, has its intent stored first and then goes on
    /// to its end even when the caller leaves; one that only reads is recorded while it is under way and ends with its caller.
    pub(super) async fn run(
        &self,
        view: &View,
        permit: Permit,
        exchange: Exchange,
        asked: Asked,
    ) -> Result<Finished, Stopped> {
        let tenant = view.key.principal.tenant;
        let entry = Decided::allowed(&permit).entry(self.now());
        if !permit.needs_intent() && permit.approval().is_none() {
            let unavailable = |_| Stopped::Refused(record_unavailable());
            let recorded = self.inner.store.record(tenant, entry).map_err(unavailable)?;
            return self.run_read_only(permit, recorded, exchange, asked).await;
        }
        match self
            .inner
            .store
            .begin_intent(tenant, entry, permit.epoch(), permit.approval())
            .await
        {
            Err(IntentError::EpochMoved { .. } | IntentError::ApprovalGone) => {
                Err(Stopped::DecideAgain(Box::new(permit.into_call())))
            }
            Err(IntentError::Unavailable(error)) => {
                tracing::error!(%error, "an intent cannot be stored");
                Err(Stopped::Refused(record_unavailable()))
            }
            Ok(intent) => {
                let Ok(cleared) = Cleared::with_intent(permit, intent) else {
                    return Err(Stopped::Refused(record_unavailable()));
                };
                let gateway = self.clone();
                let act = self
                    .inner
                    .tasks
                    .spawn(async move { gateway.act(cleared, exchange, asked).await });
                act.await.map_err(|error| {
                    tracing::error!(%error, "a call ended in a fault of ours; it stands as unknown");
                    let outcome = Outcome::new(Status::Unknown, OutcomeCode::Unknown);
                    Stopped::Refused(super::conclude::Refused {
                        outcome,
                        body: notice(OutcomeCode::Unknown, None, &json!({})),
                    })
                })
            }
        }
    }

    pub(super) async fn run_read_only(
        &self,
        permit: Permit,
        recorded: Recorded,
        exchange: Exchange,
        asked: Asked,
    ) -> Result<Finished, Stopped> {
        let Ok(cleared) = Cleared::recorded(permit, &recorded) else {
            return Err(Stopped::Refused(record_unavailable()));
        };
        let finished = self.act(cleared, exchange, asked).await;
        // The result leaves only after the record of its decision has reached the operating system.
        match recorded.written().await {
            Ok(()) => Ok(finished),
            Err(error) => {
                tracing::error!(%error, "the record of a call that only reads cannot be written");
                Err(Stopped::Refused(withheld()))
            }
        }
    }

    /// Dispatches and records the end, whatever it is.
    async fn act(&self, cleared: Cleared, exchange: Exchange, asked: Asked) -> Finished {
        let mut end = End::of(self, cleared.call(), cleared.effect());
        let finished = match &cleared.call().target {
            Target::Tool(ToolRef::Capability(id)) => {
                let id = id.clone();
                self.act_built_in(&id, cleared).await
            }
            Target::Tool(ToolRef::Upstream { .. })
            | Target::Prompt { .. }
            | Target::Resource { .. }
            | Target::Skill { .. } => self.act_upstream(cleared, exchange, asked).await,
        };
        end.write(finished.outcome, result_digest(&finished.body));
        finished
    }

    async fn act_built_in(&self, id: &str, cleared: Cleared) -> Finished {
        let Some(capability) = self.inner.registry.get(id).cloned() else {
            return failed(OutcomeCode::Internal, "there is no such capability");
        };
        let call = cleared.into_call();
        let context = Context {
            gateway: self.clone(),
            principal: call.principal,
            agent: call.agent,
            surface: Surface::Agent,
            call: call.id,
            now: self.now(),
        };
        match capability.run(context, call.arguments.value().clone()).await {
            Ok(output) => Finished {
                outcome: Outcome::SUCCEEDED,
                body: tool_result(output),
            },
            Err(failure) => failed_with(&failure),
        }
    }

    async fn act_upstream(&self, cleared: Cleared, exchange: Exchange, asked: Asked) -> Finished {
        let call = cleared.call();
        let dispatch = Dispatch {
            session: SessionKey {
                session: exchange.session.clone(),
                principal: call.principal.identity,
                agent: call.agent,
            },
            client: exchange.client,
            extras: exchange.extras,
            progress: exchange.progress,
            timeout: exchange.timeout,
        };
        let connections = &self.inner.connections;
        match asked {
            Asked::Call => finish(connections.dispatch(cleared, dispatch, exchange.events).await),
            Asked::Held(held) => held.check(finish(
                connections.dispatch(cleared, dispatch, exchange.events).await,
            )),
            Asked::Beside(relay) => {
                finish(connections.relay(cleared, relay, dispatch, exchange.events).await)
            }
        }
    }
}

fn finish(dispatched: Dispatched) -> Finished {
    let Dispatched {
        outcome,
        body,
        detail,
        http_status,
        retry_after,
        ..
    } = dispatched;
    let body = match body {
        DispatchBody::Result(raw) => ReplyBody::Result(raw),
        DispatchBody::InputRequired(raw) => ReplyBody::InputRequired(raw),
        DispatchBody::Rpc { code, message, data } => ReplyBody::Error(PeerError {
            code,
            message,
            data: data.map(Arc::from),
        }),
        DispatchBody::None => {
            let code = outcome.code.unwrap_or(OutcomeCode::Internal);
            let details =
                json!({ "http_status": http_status, "retry_after_s": retry_after.map(|d| d.as_secs()) });
            notice(code, Some(&detail), &details)
        }
    };
    Finished { outcome, body }
}

fn notice(code: OutcomeCode, detail: Option<&str>, details: &Value) -> ReplyBody {
    let what = match code {
        OutcomeCode::InvalidArguments => "the arguments do not fit the tool's schema; nothing was sent",
        OutcomeCode::ArgumentsRejected => "the server rejected the arguments; correct them and call again",
        OutcomeCode::AuthRejected => "the server refused our credential; an administrator must renew it",
        OutcomeCode::RateLimited => "the server limits our rate; try again later",
        OutcomeCode::Unreachable => "the server could not be reached; nothing was sent",
        OutcomeCode::UpstreamError => "the server answered with an error",
        OutcomeCode::UpstreamInvalid => "the server's answer is not valid; this call gave no usable result",
        OutcomeCode::TooLarge => "the server's answer is larger than allowed; ask for less",
        OutcomeCode::Timeout => "the server did not answer in time; this call gave no usable result",
        OutcomeCode::Unknown => {
            "the call was sent and nobody knows what came of it; do not repeat it before its effect was checked"
        }
        OutcomeCode::Cancelled => "the call was cancelled",
        OutcomeCode::ToolError
        | OutcomeCode::RepeatedRejection
        | OutcomeCode::SkippedAfterFailure
        | OutcomeCode::Denied
        | OutcomeCode::ApprovalRequired
        | OutcomeCode::ApprovalExpired
        | OutcomeCode::RecordUnavailable
        | OutcomeCode::Internal => "the call failed",
    };
    let text = match detail {
        Some(detail) if !detail.is_empty() => format!("{what} ({detail})"),
        _ => what.to_owned(),
    };
    ReplyBody::Notice(Notice {
        code: code.as_str(),
        text,
        details: details.clone(),
    })
}

pub(super) fn failed(code: OutcomeCode, detail: &str) -> Finished {
    Finished {
        outcome: Outcome::failed(code),
        body: notice(code, Some(detail), &json!({})),
    }
}

fn failed_with(failure: &Failure) -> Finished {
    let details = json!({ "code": failure.code, "field": failure.field });
    let notice = Notice {
        code: failure.code,
        text: failure.detail.clone(),
        details,
    };
    Finished {
        outcome: Outcome::failed(OutcomeCode::ToolError),
        body: ReplyBody::Notice(notice),
    }
}

/// A capability's output as a `CallToolResult`: for models as text, for programs as structured content.
fn tool_result(output: Value) -> ReplyBody {
    let text = output.to_string();
    let result = if output.is_object() {
        json!({ "content": [{ "type": "text", "text": text }], "structuredContent": output })
    } else {
        json!({ "content": [{ "type": "text", "text": text }] })
    };
    let raw: Box<RawValue> = to_raw_value(&result).unwrap_or_default();
    ReplyBody::Result(raw)
}

fn result_digest(body: &ReplyBody) -> Option<Digest> {
    match body {
        ReplyBody::Result(raw) | ReplyBody::InputRequired(raw) => Some(Digest::of(raw.get().as_bytes())),
        ReplyBody::Error(_) | ReplyBody::Notice(_) | ReplyBody::Approval(_) => None,
    }
}
