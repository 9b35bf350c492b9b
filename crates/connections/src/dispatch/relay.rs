//! Requests beside calls: completing an argument, and hearing of a resource.

use std::sync::Arc;

use domain::{CallEvents, Outcome, OutcomeCode, Sharing, Target};
use mcp::version::Era;
use mcp::wire::{Object, WireError, raw};
use mcp::{Request, RequestError};
use serde_json::value::RawValue;

use super::run::{Failed, Way};
use super::{Dispatch, Dispatched, outcome, request};
use crate::pool::subscribe;
use crate::{Cleared, Connections};

/// A request about a prompt or resource that the caller was cleared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relay {
    /// `completion/complete` for an argument of the prompt or resource template.
    Complete,
    /// `resources/subscribe`: updates arrive as [`ConnectionEventKind::ResourceUpdated`](crate::ConnectionEventKind).
    Subscribe,
    /// `resources/unsubscribe`.
    Unsubscribe,
}

impl Connections {
    /// Sends a request beside calls. The call's arguments are the params as they came; what they refer to is replaced by the cleared
    /// target.
    ///
    /// Subscriptions are kept for as long as the client's session: a shared upstream session is subscribed while anybody wants it, and
    /// again after it was lost.
    pub async fn relay(
        &self,
        cleared: Cleared,
        relay: Relay,
        to: Dispatch,
        events: Arc<dyn CallEvents>,
    ) -> Dispatched {
        let way = match self.inner.way(&cleared, &to).await {
            Ok(way) => way,
            Err(error) => return outcome::unreachable(&error),
        };
        let answer = match (relay, &cleared.call().target) {
            (Relay::Complete, target) => {
                let params = match completion(&cleared, target, &to) {
                    Ok(params) => params,
                    Err(error) => return invalid(&error.to_string()),
                };
                let wire = Request::new("completion/complete", params, way.deadline).by(&way.patience());
                way.exchange(&to, wire, None, events).await
            }
            (Relay::Subscribe | Relay::Unsubscribe, Target::Resource { uri, .. }) => {
                way.subscription(relay, uri, &to).await
            }
            (
                Relay::Subscribe | Relay::Unsubscribe,
                Target::Tool(_) | Target::Prompt { .. } | Target::Skill { .. },
            ) => {
                return invalid("only resources can be subscribed to");
            }
        };
        way.conclude(match answer {
            Ok(result) => outcome::answered(result),
            Err(Failed::Unreachable(error)) => outcome::unreachable(&error),
            Err(Failed::Request(error)) => outcome::request_failed(error, cleared.effect()),
        })
    }
}

impl Way {
    async fn subscription(
        &self,
        relay: Relay,
        uri: &Arc<str>,
        to: &Dispatch,
    ) -> Result<Box<RawValue>, Failed> {
        if self.settings.connection.sharing == Sharing::PerCall {
            let reason =
                "the connection has a session of its own for every call, so nothing can be subscribed to";
            return Err(Failed::Request(RequestError::Unsendable(reason.to_owned())));
        }
        let lease = self.lease(to).await.map_err(Failed::Unreachable)?;
        let changes = match relay {
            Relay::Unsubscribe => self.line.unwant(uri, &to.session),
            Relay::Subscribe | Relay::Complete => self.line.want(uri, &to.session),
        };
        let live = &lease.live;
        if changes || live.own {
            let told = match live.era() {
                Era::Modern => {
                    let key = live.own.then_some(&to.session);
                    self.inner
                        .ask_for_news(&self.line, live, key, self.deadline)
                        .await
                }
                Era::Legacy => {
                    let method = if relay == Relay::Unsubscribe {
                        "resources/unsubscribe"
                    } else {
                        "resources/subscribe"
                    };
                    subscribe(live, method, uri, self.deadline).await
                }
            };
            if let Err(error) = told {
                self.line.unwant(uri, &to.session);
                return Err(Failed::Request(error));
            }
        }
        raw(&Object::new()).map_err(|error| Failed::Request(RequestError::Unsendable(error.to_string())))
    }
}

/// The params of a completion, about the cleared target and nothing else.
fn completion(cleared: &Cleared, target: &Target, to: &Dispatch) -> Result<Object, WireError> {
    let (kind, key) = match target {
        Target::Prompt { .. } => ("ref/prompt", "name"),
        Target::Resource { .. } | Target::Skill { .. } => ("ref/resource", "uri"),
        Target::Tool(_) => ("ref/tool", "name"),
    };
    let mut params = Object::parse(cleared.call().arguments.raw())?;
    let reference = Object::new().with("type", kind)?.with(key, &**target.name())?;
    params.insert("ref", reference.to_raw()?);
    params.remove("_meta");
    request::add_extras(&mut params, to);
    Ok(params)
}

fn invalid(detail: &str) -> Dispatched {
    outcome::failed(
        Outcome::failed(OutcomeCode::InvalidArguments),
        false,
        detail.to_owned(),
    )
}
