//! The way of a cleared call to its server.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use domain::{CallEvents, Effect, Health, Outcome, OutcomeCode, Target, Tenant, ToolRef};
use mcp::param_headers::ParamHeaders;
use mcp::version::Era;
use mcp::wire::Object;
use mcp::{Patience, Request, RequestError, Silent, TransportKind};
use serde_json::value::RawValue;
use store::PinName;
use tokio::time::{Instant, timeout_at};

use super::bridge::Bridge;
use super::{Dispatch, DispatchBody, Dispatched, outcome, request};
use crate::connections::Inner;
use crate::definition::Tool;
use crate::pool::{Lease, Line, Settings, Turn, lock};
use crate::{Cleared, ConnectionError, Connections};

impl Connections {
    /// Sends a cleared call to its server: `tools/call`, `prompts/get` or `resources/read`, by its target. For prompts and resources
    /// the call's arguments are the params as they came.
    ///
    /// A session that is gone is opened again once before anything is sent; what was sent is never sent again, unless the server said
    /// that it did not look at it. Dropping the future cancels the call. What comes back is always an answer to go on with.
    pub async fn dispatch(&self, cleared: Cleared, to: Dispatch, events: Arc<dyn CallEvents>) -> Dispatched {
        let call = cleared.call();
        let (method, params) = match request::of(call, &to) {
            Ok(request) => request,
            Err(error) => {
                return outcome::failed(
                    Outcome::failed(OutcomeCode::InvalidArguments),
                    false,
                    error.to_string(),
                );
            }
        };
        let way = match self.inner.way(&cleared, &to).await {
            Ok(way) => way,
            Err(error) => return outcome::unreachable(&error),
        };
        let mut wire = Request::new(method, params, way.deadline).by(&way.patience());
        wire.progress_token = to.progress;
        let dispatched = match way.exchange(&to, wire, Some(&cleared), events).await {
            Ok(result) => outcome::answered(result),
            Err(Failed::Unreachable(error)) => outcome::unreachable(&error),
            Err(Failed::Request(error)) => {
                if let Some(tokens) = &way.settings.tokens {
                    self.inner.lacks(tokens, &error);
                }
                if error.is_header_mismatch() {
                    // The definition the headers were made from is not the server's any more.
                    self.inner.lists_changed(&way.line);
                }
                if self.inner.stopping() && outcome::broken_off(&error, cleared.effect()) {
                    let outcome = Outcome::failed(OutcomeCode::Cancelled);
                    outcome::failed(outcome, error.sent(), "the server stops".to_owned())
                } else {
                    outcome::request_failed(error, cleared.effect())
                }
            }
        };
        way.conclude(dispatched)
    }
}

/// Where a call goes, and until when.
pub(super) struct Way {
    pub(super) inner: Arc<Inner>,
    pub(super) line: Arc<Line>,
    pub(super) settings: Arc<Settings>,
    pub(super) deadline: Instant,
    /// One of the calls the connection may have in flight.
    turn: Arc<Turn>,
}

/// Why there is no answer.
pub(super) enum Failed {
    /// There is no session to ask on.
    Unreachable(ConnectionError),
    /// It was asked.
    Request(RequestError),
}

impl Inner {
    /// Finds the connection of a call and waits for its turn there.
    pub(super) async fn way(
        self: &Arc<Self>,
        cleared: &Cleared,
        to: &Dispatch,
    ) -> Result<Way, ConnectionError> {
        let started = Instant::now();
        let call = cleared.call();
        let id = call.target.connection().ok_or(ConnectionError::NotFound)?;
        let line = self.line(call.principal.tenant, id)?;
        let settings = line.settings(self).await?;
        line.freshness.used();
        let limit = settings.call_timeout(self.limits.call);
        let deadline = started + to.timeout.map_or(limit, |wanted: Duration| wanted.min(limit));
        let turn = timeout_at(deadline, line.calls.clone().acquire_owned()).await;
        let turn = turn
            .map_err(|_| ConnectionError::Late)?
            .map_err(|_| ConnectionError::Stopped)?;
        Ok(Way {
            inner: self.clone(),
            line,
            settings,
            deadline,
            turn: Arc::new(Turn::new(turn)),
        })
    }

    /// Which arguments of a tool a modern HTTP server wants in headers, by the accepted definition.
    async fn plan(&self, line: &Line, tenant: Tenant, cleared: &Cleared) -> Option<Arc<ParamHeaders>> {
        let call = cleared.call();
        let Target::Tool(ToolRef::Upstream { connection, name }) = &call.target else {
            return None;
        };
        if let Some(plan) = line.plans.get(&call.definition) {
            return plan.clone();
        }
        let pin = PinName {
            connection: *connection,
            name: name.clone(),
        };
        let definition = self.store.pin(tenant, &pin).await.ok().flatten()?.accepted?;
        let tool = Tool::read(definition.raw).ok()?;
        let plan = ParamHeaders::from_schema(tool.input_schema())
            .ok()
            .filter(|plan| !plan.is_empty())
            .map(Arc::new);
        line.plans.insert(definition.digest, plan.clone());
        plan
    }
}

impl Way {
    /// The clock of a call: its limit, without the time its server waits for answers of the client.
    pub(super) fn patience(&self) -> Arc<Patience> {
        Patience::new(self.deadline, self.inner.limits.answer)
    }

    pub(super) async fn lease(&self, to: &Dispatch) -> Result<Lease, ConnectionError> {
        let who = (&to.session, &to.client);
        self.inner
            .lease(
                &self.line,
                &self.settings,
                who,
                (self.turn.clone(), self.deadline),
            )
            .await
    }

    /// Asks, on a fresh session if the one at hand turns out to be gone before anything was sent.
    pub(super) async fn exchange(
        &self,
        to: &Dispatch,
        mut wire: Request,
        cleared: Option<&Cleared>,
        events: Arc<dyn CallEvents>,
    ) -> Result<Box<RawValue>, Failed> {
        let patience = wire.patience.get_or_insert_with(|| self.patience());
        let events: Arc<dyn mcp::Events> = Arc::new(Bridge::new(events, patience.clone(), self.turn.clone()));
        let mut again = true;
        let mut renewed = false;
        loop {
            let sent_with = self.settings.tokens.as_ref().map(|tokens| tokens.generation());
            let lease = self.lease(to).await.map_err(Failed::Unreachable)?;
            let live = &lease.live;
            wire.context = (live.era() == Era::Modern).then(|| request::context(&to.client, live.own));
            let modern_http = live.era() == Era::Modern
                && live.upstream.negotiated().transport == TransportKind::StreamableHttp;
            if let (true, Some(cleared)) = (modern_http, cleared) {
                wire.param_headers = self.inner.plan(&self.line, self.line.tenant, cleared).await;
            }
            self.set_level(&lease, to).await;
            let asked = live.upstream.request(wire.clone(), events.clone());
            let answer = if lease.alone() {
                self.until_stopped(Box::pin(asked)).await
            } else {
                asked.await
            };
            match answer {
                Err(RequestError::SessionExpired | RequestError::Closed { sent: false, .. }) if again => {
                    again = false;
                    self.inner.discard(&self.line, live);
                }
                Err(error) if error.is_unauthorized() && !renewed && self.settings.tokens.is_some() => {
                    renewed = true;
                    self.another_token(sent_with.unwrap_or_default(), cleared, error)
                        .await?;
                }
                answer => return answer.map_err(Failed::Request),
            }
        }
    }

    /// Gets another token in place of one the server refused before its time. What may change something is not sent again all the same:
    /// that the server did not look at it is its word only.
    async fn another_token(
        &self,
        refused: u64,
        cleared: Option<&Cleared>,
        error: RequestError,
    ) -> Result<(), Failed> {
        let Some(tokens) = self.settings.tokens.clone() else {
            return Err(Failed::Request(error));
        };
        if cleared.is_some_and(|cleared| cleared.effect() == Effect::Mutating) {
            let renewing = async move { drop(tokens.replace(refused).await) };
            self.inner.tasks.spawn_on(renewing, &self.inner.runtime);
            return Err(Failed::Request(error));
        }
        let replaced = tokens.replace(refused).await;
        replaced.map_err(|error| Failed::Request(RequestError::NoToken(error)))
    }

    /// Ends a request on a session that is this call's alone when the connection ends.
    async fn until_stopped(
        &self,
        asked: Pin<Box<dyn Future<Output = Result<Box<RawValue>, RequestError>> + Send + '_>>,
    ) -> Result<Box<RawValue>, RequestError> {
        let answer = self.line.stop.run_until_cancelled(asked).await;
        answer.unwrap_or_else(|| {
            Err(RequestError::Closed {
                reason: "the connection was removed or shut down".to_owned(),
                sent: true,
            })
        })
    }

    /// Tells a legacy server which log level the client wants. In a shared session only more is asked for, never less: others may
    /// want it, and whoever wants less leaves it out.
    async fn set_level(&self, lease: &Lease, to: &Dispatch) {
        let (live, Some(wanted)) = (&lease.live, &to.client.log_level) else {
            return;
        };
        if live.era() == Era::Modern || !live.upstream.server().declares("logging") {
            return;
        }
        {
            let mut level = lock(&live.level);
            let enough = |told: &Arc<str>| {
                if live.own {
                    told == wanted
                } else {
                    rank(told) <= rank(wanted)
                }
            };
            if level.as_ref().is_some_and(enough) {
                return;
            }
            *level = Some(wanted.clone());
        }
        let Ok(params) = Object::new().with("level", &**wanted) else {
            return;
        };
        let request = Request::new("logging/setLevel", params, self.deadline);
        if let Err(error) = live.upstream.request(request, Arc::new(Silent)).await {
            tracing::debug!(%error, connection = %self.line.id, "a server does not take a log level");
        }
    }

    /// Notes what the outcome says about the server, and takes our secrets out of what it said.
    pub(super) fn conclude(&self, mut dispatched: Dispatched) -> Dispatched {
        let health = match dispatched.outcome.code {
            None | Some(OutcomeCode::ToolError) => Some(Health::Ok),
            // Without a token nothing was asked, and why there is none was noted where that was found out; 403 is about what was asked.
            Some(OutcomeCode::AuthRejected)
                if self.settings.tokens.is_some()
                    && (!dispatched.sent || dispatched.http_status == Some(403)) =>
            {
                None
            }
            Some(OutcomeCode::AuthRejected) => Some(Health::AuthRejected),
            Some(OutcomeCode::RateLimited) => Some(Health::RateLimited),
            Some(_) => None,
        };
        if let Some(health) = health {
            self.inner.observed(&self.line, health, &dispatched.detail);
        }
        if !dispatched.detail.is_empty() {
            dispatched.detail = self.settings.scrub(&dispatched.detail);
        }
        // Results are the tool's; errors are the server's own words, and some repeat the request they are about.
        if let DispatchBody::Rpc { message, data, .. } = &mut dispatched.body {
            *message = self.settings.without_secrets(message);
            if let Some(raw) = data {
                let hidden = self.settings.without_secrets(raw.get());
                if hidden != raw.get() {
                    *data = RawValue::from_string(hidden).ok();
                }
            }
        }
        dispatched
    }
}

/// Log levels after RFC 5424, most talkative first.
fn rank(level: &str) -> usize {
    const LEVELS: [&str; 8] = [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ];
    LEVELS
        .iter()
        .position(|known| *known == level)
        .unwrap_or(LEVELS.len())
}
