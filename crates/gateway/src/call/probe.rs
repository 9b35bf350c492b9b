//! A harmless call that a person has made of a connection, to see whether it works: no agent's, and decided by the person's own role.

use std::sync::Arc;

use domain::{
    Arguments, Call, CallId, Channel, ConnectionId, Effect, Principal, Risk, Surface, Target, ToolRef,
};
use policy::{Access, CapabilityFact, Decision, OperatorFacts, Permit};
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::conclude::Stopped;
use super::dispatch::Asked;
use super::{Exchange, ToolReply};
use crate::facts::{KnownTool, Workspace};
use crate::record::Decided;
use crate::{Failure, Gateway};

/// Which call is meant.
#[derive(Debug, Clone)]
pub struct ProbeRequest {
    /// Who asks.
    pub principal: Principal,
    /// Through which surface.
    pub surface: Surface,
    /// Whose tool.
    pub connection: ConnectionId,
    /// The tool, by its own name or a former one.
    pub tool: Arc<str>,
    /// Its arguments.
    pub arguments: Value,
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum Probed {
    /// The call was made, or denied; either way it stands in the record.
    Answered(ToolReply),
    /// There is no such call to make, and why.
    Unable(&'static str),
}

impl Gateway {
    /// Calls one tool of a connection that is classified as only reading, for an administrator and for no agent. The call is decided
    /// by the caller's role, recorded before its result leaves, and dispatched like any other.
    ///
    /// # Errors
    /// There is no such connection, or the arguments are none.
    pub async fn probe(&self, request: ProbeRequest) -> Result<Probed, Failure> {
        let tenant = request.principal.tenant;
        let workspace = self.workspace(tenant)?;
        let (call, effect, risk) = match self.probe_call(&workspace, &request)? {
            Ok(call) => call,
            Err(why) => return Ok(Probed::Unable(why)),
        };
        let id = call.id;
        let facts = OperatorFacts {
            capability: CapabilityFact {
                surfaces: &[request.surface],
                access: Access::Admin,
                risk,
                effect,
            },
            surface: request.surface,
            claimed: true,
            epoch: workspace.epoch,
        };
        let permit = match policy::decide_operator(call, &facts) {
            Decision::Allow(permit) => permit,
            Decision::Deny(denial) => return Ok(Probed::Answered(self.denied(&denial))),
            Decision::Ask(_) => return Err(Failure::internal("a probe was to ask", "it never is")),
        };
        Ok(Probed::Answered(self.run_probe(id, permit).await))
    }

    async fn run_probe(&self, id: CallId, permit: Permit) -> ToolReply {
        let tenant = permit.call().principal.tenant;
        let entry = Decided::allowed(&permit).entry(self.now());
        let done = match self.inner.store.record(tenant, entry) {
            Ok(recorded) => {
                let exchange = Exchange::default();
                self.run_read_only(permit, recorded, exchange, Asked::Call).await
            }
            Err(_) => Err(Stopped::Refused(super::record_unavailable())),
        };
        match done {
            Ok(finished) => ToolReply {
                call: id,
                outcome: finished.outcome,
                body: finished.body,
            },
            Err(Stopped::Refused(refused)) => ToolReply {
                call: id,
                outcome: refused.outcome,
                body: refused.body,
            },
            Err(Stopped::DecideAgain(_)) => {
                let refused = super::record_unavailable();
                ToolReply {
                    call: id,
                    outcome: refused.outcome,
                    body: refused.body,
                }
            }
        }
    }

    fn probe_call(
        &self,
        workspace: &Workspace,
        request: &ProbeRequest,
    ) -> Result<Result<(Call, Effect, Risk), &'static str>, Failure> {
        let connection = workspace
            .connection(request.connection)
            .ok_or_else(|| Failure::not_found("connection"))?;
        let name: Arc<str> = workspace.present_name(connection, &request.tool).into();
        let tool = ToolRef::Upstream {
            connection: connection.id,
            name: name.clone(),
        };
        let fact = workspace.tool_facts.iter().find(|fact| fact.tool == tool);
        let (Some(fact), Some(KnownTool::Imported(imported))) = (fact, workspace.tools.get(&tool)) else {
            return Ok(Err(
                "the server does not list the tool that would prove it; refresh the connection first",
            ));
        };
        if !fact.state.callable() {
            return Ok(Err(
                "the tool that would prove it cannot be called as it stands; look at its definition",
            ));
        }
        if fact.effect != Effect::ReadOnly {
            return Ok(Err(
                "the tool that would prove it is not classified as only reading, so it is not called to try",
            ));
        }
        let raw = to_raw_value(&request.arguments).map_err(|error| Failure::invalid_input(&error))?;
        let arguments = Arguments::new(raw).map_err(|error| Failure::invalid_input(&error))?;
        let arguments = match &imported.adapter {
            Some(adapter) => adapter.arguments(arguments),
            None => arguments,
        };
        if imported.check(&self.inner.schemas, arguments.value()).is_err() {
            return Ok(Err(
                "the tool that would prove it wants other arguments by now, so it was not called",
            ));
        }
        let limits = self.inner.names;
        let exposed = policy::names::expose(Some(&connection.namespace), &name, connection.id, limits);
        let call = Call {
            id: CallId::generate(),
            principal: request.principal,
            agent: None,
            channel: Channel::Api,
            surface: Some(request.surface),
            run: None,
            target: Target::Tool(tool),
            exposed,
            definition: fact.definition,
            arguments,
        };
        Ok(Ok((call, fact.effect, fact.risk)))
    }
}
