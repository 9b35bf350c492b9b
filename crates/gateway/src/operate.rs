//! A capability called by a person or program on an operator's surface: REST, the operator's MCP endpoint, the command line.

use connections::schema::Violation;
use domain::{
    Arguments, Call, CallId, Channel, Digest, Effect, Outcome, OutcomeCode, Principal, Status, Surface,
    Target, ToolRef,
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

/// How often a change is tried again because the policy changed under it.
const ATTEMPTS: usize = 4;

impl Gateway {
    /// Calls a capability: checks the input, decides, records, runs, records. One that may change something goes on to its end even
    /// when the caller leaves.
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
        if !capability.declaration.on(operation.surface) {
            return Err(unknown());
        }
        if let Err(violations) = self.check_capability(capability.declaration.id, &operation.input) {
            return Err(invalid(&violations));
        }
        match capability.declaration.effect {
            Effect::ReadOnly => self.operate_checked(&capability, operation).await,
            Effect::Mutating => {
                let gateway = self.clone();
                let act = async move { gateway.operate_checked(&capability, operation).await };
                let done = self.inner.tasks.spawn(act).await;
                done.unwrap_or_else(|error| {
                    Err(Failure::internal("an operation ended in a fault of ours", error))
                })
            }
        }
    }

    async fn operate_checked(&self, capability: &Capability, operation: Operation) -> Result<Reply, Failure> {
        let Some(key) = operation
            .idempotency_key
            .clone()
            .filter(|_| capability.declaration.idempotent)
        else {
            return self.operate_once(capability, operation).await;
        };
        let request = IdempotentRequest {
            principal: format!("{}:{}", operation.principal.kind(), operation.principal.id_text()),
            key: checked_key(key)?,
            operation: operation.id.clone(),
            body: Digest::of_json(&operation.input),
        };
        self.operate_idempotently(capability, operation, &request).await
    }

    async fn operate_idempotently(
        &self,
        capability: &Capability,
        operation: Operation,
        request: &IdempotentRequest,
    ) -> Result<Reply, Failure> {
        let tenant = operation.principal.tenant;
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
                return Err(Failure::new(
                    FailureKind::Conflict,
                    "idempotency.conflict",
                    detail,
                ));
            }
            Idempotency::InProgress => {
                let detail = "a request with this Idempotency-Key is under way; try again shortly";
                return Err(Failure::new(
                    FailureKind::Conflict,
                    "idempotency.in_progress",
                    detail,
                ));
            }
        }
        let answer = self.operate_once(capability, operation).await;
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

    async fn operate_once(&self, capability: &Capability, operation: Operation) -> Result<Reply, Failure> {
        let declaration = capability.declaration;
        let Operation {
            principal,
            surface,
            input,
            ..
        } = operation;
        let tenant = principal.tenant;
        let call = self.operator_call(&declaration, principal, surface, &input)?;
        let permit = self.clear_operator(&declaration, surface, call).await?;
        let mut end = End::of(self, permit.call(), permit.effect());
        let context = Context {
            gateway: self.clone(),
            principal,
            agent: permit.call().agent,
            surface,
            call: permit.call().id,
            now: self.now(),
        };
        let answer = capability.run(context, input).await;
        let outcome = match &answer {
            Ok(_) => Outcome::SUCCEEDED,
            Err(failure) => Outcome::failed(failure_code(failure.kind)),
        };
        end.write(outcome, None);
        if declaration.effect == Effect::Mutating {
            // Also after a failure: part of the change may have been made.
            self.refresh(tenant).await?;
        }
        let output = answer?;
        let body = capability.output.is_some().then_some(output);
        Ok(Reply {
            status: declaration.success,
            body,
            replayed: false,
        })
    }

    fn operator_call(
        &self,
        declaration: &Declaration,
        principal: Principal,
        surface: Surface,
        input: &Value,
    ) -> Result<Call, Failure> {
        let raw = to_raw_value(input).map_err(|error| Failure::invalid_input(&error))?;
        Ok(Call {
            id: CallId::generate(),
            principal,
            agent: principal.bound_agent(),
            channel: match surface {
                Surface::Mcp | Surface::Agent => Channel::Mcp,
                Surface::Api | Surface::Cli => Channel::Api,
            },
            run: None,
            target: Target::Tool(ToolRef::Capability(declaration.id.into())),
            exposed: declaration.id.into(),
            definition: Digest::of(declaration.id.as_bytes()),
            arguments: Arguments::new(raw).map_err(|error| Failure::invalid_input(&error))?,
        })
    }

    /// Decides an operator's call and records it: the intent of one that changes something is durable before it runs.
    async fn clear_operator(
        &self,
        declaration: &Declaration,
        surface: Surface,
        call: Call,
    ) -> Result<Permit, Failure> {
        let tenant = call.principal.tenant;
        let mut call = call;
        for _ in 0..ATTEMPTS {
            let facts = OperatorFacts {
                capability: capability_fact(declaration),
                surface,
                epoch: self.workspace(tenant)?.epoch,
            };
            let permit = match policy::decide_operator(call, &facts) {
                Decision::Allow(permit) => permit,
                Decision::Ask(ask) => {
                    return Err(self.forbid(&Decided::asked(&ask, domain::ApprovalId::generate())));
                }
                Decision::Deny(denial) => return Err(self.forbid(&Decided::denied(&denial))),
            };
            let entry = Decided::allowed(&permit).entry(self.now(), Some(surface));
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
                    call = permit.into_call();
                }
                Err(IntentError::Unavailable(error)) => return Err(error.into()),
            }
        }
        let detail = "the policy keeps changing; try again";
        Err(Failure::new(FailureKind::Unavailable, "policy.changing", detail))
    }

    fn forbid(&self, decided: &Decided<'_>) -> Failure {
        self.write_unsent(decided, Outcome::new(Status::Denied, OutcomeCode::Denied));
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

fn capability_fact(declaration: &Declaration) -> CapabilityFact<'_> {
    CapabilityFact {
        surfaces: declaration.surfaces,
        access: match declaration.action {
            Action::Read | Action::Administer => Access::Admin,
            Action::Use => Access::Agent,
            Action::Approve => Access::Approval,
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
