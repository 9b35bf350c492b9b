//! A capability called by a person or program on an operator's surface: REST, the operator's MCP endpoint, the command line.

use connections::schema::Violation;
use domain::{
    Arguments, Call, CallId, Channel, Digest, Effect, Outcome, OutcomeCode, Principal, Reason, ReasonCode,
    Status, Surface, Target, ToolRef,
};
use policy::{Access, CapabilityFact, Decision, OperatorFacts, Permit};
use serde_json::Value;
use serde_json::value::to_raw_value;
use store::{Idempotency, IdempotentRequest, IntentError};

use crate::capability::{Action, Capability, Declaration};
use crate::record::{Decided, End};
use crate::{Context, Failure, FailureKind, Gateway};

/// One capability call.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Who asks.
    pub principal: Principal,
    /// Through which surface.
    pub surface: Surface,
    /// The capability's id.
    pub id: String,
    /// Its input: one flat object.
    pub input: Value,
    /// The `Idempotency-Key`, where one was given.
    pub idempotency_key: Option<String>,
}

/// Its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The HTTP status of success.
    pub status: u16,
    /// The output; none when there is nothing to say.
    pub body: Option<Value>,
    /// Whether it is the stored answer to an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// An operation that its caller may ask for and whose input fits.
struct Attempt {
    capability: Capability,
    operation: Operation,
    permit: Permit,
}

/// How often a change is tried again because the policy changed under it.
const ATTEMPTS: usize = 4;

impl Gateway {
    /// Calls a capability: decides by the caller's role, checks the input, records, runs, records. One that may change something goes
    /// on to its end even when the caller leaves. One that carries a call leaves only that call's entry.
    ///
    /// # Errors
    /// Whatever the caller can act on; see [`Failure`].
    pub async fn operate(&self, operation: Operation) -> Result<Reply, Failure> {
        let unknown = || {
            Failure::new(
                FailureKind::NotFound,
                "operation.not_found",
                "there is no such operation here",
            )
        };
        let capability = self
            .inner
            .registry
            .get(&operation.id)
            .ok_or_else(unknown)?
            .clone();
        let declaration = capability.declaration;
        if !declaration.on(operation.surface) {
            return Err(unknown());
        }
        // First who: what an operation wants to be told is nobody's business who may not use it.
        let call = operator_call(&declaration, &operation)?;
        let permit = self.decide_operator(&declaration, operation.surface, call)?;
        if let Err(violations) = self.check_capability(declaration.id, &operation.input) {
            let failure = invalid(&violations);
            self.write_attempt(&permit, &failure);
            return Err(failure);
        }
        let cleared = Attempt {
            capability,
            operation,
            permit,
        };
        match declaration.effect {
            // On the heap: it carries whole calls of tools, and whoever asks would carry them along.
            Effect::ReadOnly => Box::pin(self.operate_checked(cleared)).await,
            Effect::Mutating => {
                let gateway = self.clone();
                let act = async move { Box::pin(gateway.operate_checked(cleared)).await };
                let done = self.inner.tasks.spawn(act).await;
                done.unwrap_or_else(|error| {
                    Err(Failure::internal("an operation ended in a fault of ours", error))
                })
            }
        }
    }

    async fn operate_checked(&self, attempt: Attempt) -> Result<Reply, Failure> {
        let operation = &attempt.operation;
        let Some(key) = operation
            .idempotency_key
            .clone()
            .filter(|_| attempt.capability.declaration.idempotent)
        else {
            return self.operate_once(attempt).await;
        };
        let request = IdempotentRequest {
            principal: format!("{}:{}", operation.principal.kind(), operation.principal.id_text()),
            key: checked_key(key).inspect_err(|failure| self.write_attempt(&attempt.permit, failure))?,
            operation: operation.id.clone(),
            body: Digest::of_json(&operation.input),
        };
        self.operate_idempotently(attempt, &request).await
    }

    async fn operate_idempotently(
        &self,
        attempt: Attempt,
        request: &IdempotentRequest,
    ) -> Result<Reply, Failure> {
        let tenant = attempt.operation.principal.tenant;
        let store = &self.inner.store;
        match store.idempotent(tenant, request).await? {
            Idempotency::Fresh => {}
            Idempotency::Replay { status, body } => {
                let body = (!body.is_empty()).then(|| serde_json::from_slice(&body).unwrap_or(Value::Null));
                return Ok(Reply {
                    status,
                    body,
                    replayed: true,
                });
            }
            Idempotency::Conflict => {
                let detail = "this Idempotency-Key was used with another request; choose a new key";
                return Err(self.not_again(&attempt, ("idempotency.conflict", detail)));
            }
            Idempotency::InProgress => {
                let detail = "a request with this Idempotency-Key is under way; try again shortly";
                return Err(self.not_again(&attempt, ("idempotency.in_progress", detail)));
            }
        }
        let answer = self.operate_once(attempt).await;
        let kept = match &answer {
            Ok(reply) => {
                let body = reply
                    .body
                    .as_ref()
                    .map(|body| body.to_string().into_bytes())
                    .unwrap_or_default();
                store
                    .complete_idempotent(tenant, request, reply.status, &body)
                    .await
            }
            Err(_) => store.abandon_idempotent(tenant, request).await,
        };
        if let Err(error) = kept {
            // What was done is done: the answer stands.
            tracing::error!(%error, operation = %request.operation, "the answer under an idempotency key could not be kept");
        }
        answer
    }

    async fn operate_once(&self, attempt: Attempt) -> Result<Reply, Failure> {
        let Attempt {
            capability,
            operation:
                Operation {
                    principal,
                    surface,
                    input,
                    ..
                },
            permit,
        } = attempt;
        let context = Context {
            gateway: self.clone(),
            principal,
            agent: permit.call().agent,
            surface,
            call: permit.call().id,
            now: self.now(),
        };
        if capability.carries() {
            self.complete(context.tenant()).await;
        }
        let output = match capability.find(context.clone(), input.clone()) {
            Some(Ok(carried)) => capability.tell(self.carry(carried, surface).await)?,
            Some(Err(failure)) => {
                self.write_attempt(&permit, &failure);
                return Err(failure);
            }
            None => {
                self.act_for_operator(&capability, (context, input), permit)
                    .await?
            }
        };
        Ok(Reply {
            status: capability.declaration.success,
            body: capability.output.is_some().then_some(output),
            replayed: false,
        })
    }

    async fn act_for_operator(
        &self,
        capability: &Capability,
        (context, input): (Context, Value),
        permit: Permit,
    ) -> Result<Value, Failure> {
        let tenant = context.principal.tenant;
        let permit = self
            .record_operator(&capability.declaration, context.surface, permit)
            .await?;
        let mut end = End::of(self, permit.call(), permit.effect());
        let answer = capability.run(context, input).await;
        let outcome = match &answer {
            Ok(_) => Outcome::SUCCEEDED,
            Err(failure) => Outcome::failed(failure_code(failure.kind)),
        };
        end.write(outcome, None);
        if capability.declaration.effect == Effect::Mutating {
            // Also after a failure: part of the change may have been made.
            self.refresh(tenant).await?;
        }
        answer
    }

    /// Decides an operator's call by the caller's role. A denial is recorded here.
    fn decide_operator(
        &self,
        declaration: &Declaration,
        surface: Surface,
        call: Call,
    ) -> Result<Permit, Failure> {
        let workspace = self.workspace(call.principal.tenant)?;
        let bound = call.principal.bound_agent();
        let facts = OperatorFacts {
            capability: capability_fact(declaration),
            surface,
            claimed: bound.is_none_or(|id| workspace.agent(id).is_some_and(|agent| agent.claimed)),
            epoch: workspace.epoch,
        };
        match policy::decide_operator(call, &facts) {
            Decision::Allow(permit) => Ok(permit),
            Decision::Ask(ask) => Err(self.forbid(&Decided::asked(&ask, domain::ApprovalId::generate()))),
            Decision::Deny(denial) => Err(self.forbid(&Decided::denied(&denial))),
        }
    }

    /// Records an operator's call before it runs: the intent of one that changes something is durable. Where the policy changed since
    /// it was decided, it is decided again.
    async fn record_operator(
        &self,
        declaration: &Declaration,
        surface: Surface,
        permit: Permit,
    ) -> Result<Permit, Failure> {
        let tenant = permit.call().principal.tenant;
        let mut permit = permit;
        for _ in 0..ATTEMPTS {
            let entry = Decided::allowed(&permit).entry(self.now());
            if !permit.needs_intent() {
                self.inner.store.record(tenant, entry)?.written().await?;
                return Ok(permit);
            }
            match self
                .inner
                .store
                .begin_intent(tenant, entry, permit.epoch(), None)
                .await
            {
                Ok(_intent) => return Ok(permit),
                Err(IntentError::EpochMoved { .. } | IntentError::ApprovalGone) => {
                    self.refresh(tenant).await?;
                    permit = self.decide_operator(declaration, surface, permit.into_call())?;
                }
                Err(IntentError::Unavailable(error)) => return Err(error.into()),
            }
        }
        let detail = "the policy keeps changing; try again";
        let stale = Decided {
            decision: "deny",
            reason: &Reason::new(ReasonCode::PolicyStale),
            ..Decided::allowed(&permit)
        };
        self.write_unsent(&stale, Outcome::new(Status::Denied, OutcomeCode::Denied));
        Err(Failure::new(FailureKind::Unavailable, "policy.changing", detail))
    }

    fn not_again(&self, attempt: &Attempt, (code, detail): (&'static str, &str)) -> Failure {
        let failure = Failure::new(FailureKind::Conflict, code, detail);
        self.write_attempt(&attempt.permit, &failure);
        failure
    }

    /// Records what was allowed and came to nothing before it ran.
    fn write_attempt(&self, permit: &Permit, failure: &Failure) {
        let outcome = Outcome::failed(failure_code(failure.kind));
        self.write_unsent(&Decided::allowed(permit), outcome);
    }

    fn forbid(&self, decided: &Decided<'_>) -> Failure {
        self.write_unsent(decided, Outcome::new(Status::Denied, OutcomeCode::Denied));
        if decided.reason.code == ReasonCode::AgentUnclaimed {
            let detail =
                "no person has taken this agent as theirs; an administrator claims it with agents.update";
            return Failure::new(FailureKind::Forbidden, "access.unclaimed", detail);
        }
        Failure::new(
            FailureKind::Forbidden,
            "access.forbidden",
            "this credential may not do this; use an administrator's key",
        )
    }

    /// Checks input against a capability's schema.
    pub(crate) fn check_capability(&self, id: &str, input: &Value) -> Result<(), Vec<Violation>> {
        let Some(capability) = self.inner.registry.get(id) else {
            return Err(vec![unusable("there is no such capability".to_owned())]);
        };
        match capability.validator(&self.inner.schemas) {
            Ok(validator) => validator.check(input),
            Err(problem) => Err(vec![unusable(problem.to_string())]),
        }
    }
}

/// A violation that is not the value's fault: nothing can be checked, so nothing is sent.
pub(crate) fn unusable(constraint: String) -> Violation {
    Violation {
        instance: String::new(),
        schema: String::new(),
        keyword: "schema".to_owned(),
        constraint,
    }
}

fn operator_call(declaration: &Declaration, operation: &Operation) -> Result<Call, Failure> {
    let raw = to_raw_value(&operation.input).map_err(|error| Failure::invalid_input(&error))?;
    Ok(Call {
        id: CallId::generate(),
        principal: operation.principal,
        agent: operation.principal.bound_agent(),
        channel: match operation.surface {
            Surface::Mcp | Surface::Agent => Channel::Mcp,
            Surface::Api | Surface::Cli | Surface::Page | Surface::Compatible => Channel::Api,
        },
        surface: Some(operation.surface),
        run: None,
        target: Target::Tool(ToolRef::Capability(declaration.id.into())),
        exposed: declaration.id.into(),
        definition: Digest::of(declaration.id.as_bytes()),
        arguments: Arguments::new(raw).map_err(|error| Failure::invalid_input(&error))?,
    })
}

fn capability_fact(declaration: &Declaration) -> CapabilityFact<'_> {
    CapabilityFact {
        surfaces: declaration.surfaces,
        access: match declaration.action {
            Action::Read => Access::Read,
            Action::Administer => Access::Admin,
            Action::Own if declaration.effect == Effect::ReadOnly => Access::OwnRead,
            Action::Own => Access::Own,
            Action::Use => Access::Agent,
            Action::Approve => Access::Approval,
            Action::Represent => Access::Person,
            Action::Consent => Access::Consent,
        },
        risk: declaration.risk,
        effect: declaration.effect,
    }
}

fn invalid(violations: &[Violation]) -> Failure {
    let detail = violations
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    let failure = Failure::new(FailureKind::Invalid, "input.invalid", detail);
    match violations.first().map(|v| v.instance.trim_start_matches('/')) {
        Some(field) if !field.is_empty() => failure.at(field.replace('/', ".")),
        _ => failure,
    }
}

fn checked_key(key: String) -> Result<String, Failure> {
    let legal = (1..=255).contains(&key.len()) && key.bytes().all(|b| (0x20..0x7f).contains(&b));
    if legal {
        return Ok(key);
    }
    let detail = "an Idempotency-Key has 1 to 255 printable ASCII characters";
    Err(Failure::new(
        FailureKind::Malformed,
        "idempotency.bad_key",
        detail,
    ))
}

const fn failure_code(kind: FailureKind) -> OutcomeCode {
    match kind {
        FailureKind::Invalid | FailureKind::Malformed => OutcomeCode::InvalidArguments,
        FailureKind::Unauthenticated | FailureKind::Forbidden => OutcomeCode::Denied,
        FailureKind::NotFound | FailureKind::Conflict => OutcomeCode::ToolError,
        FailureKind::RateLimited => OutcomeCode::RateLimited,
        FailureKind::Upstream => OutcomeCode::UpstreamError,
        FailureKind::Unavailable => OutcomeCode::RecordUnavailable,
        FailureKind::Timeout => OutcomeCode::Timeout,
        FailureKind::Internal => OutcomeCode::Internal,
    }
}
