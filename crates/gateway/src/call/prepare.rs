//! The first steps of a call, which need nobody else: find the tool, read the arguments, check them.

use std::sync::Arc;

use connections::schema::Violation;
use domain::{
    Arguments, Call, CallId, Digest, OutcomeCode, Reason, ReasonCode, SnapshotTool, Surface, Target, ToolRef,
};
use serde_json::value::RawValue;

use super::{Exchange, ToolRequest};
use crate::facts::KnownTool;
use crate::operate::unusable;
use crate::{Gateway, View};

/// A call whose first steps are done.
pub(crate) struct Prepared {
    name: Arc<str>,
    pub(super) step: Step,
    pub(super) exchange: Exchange,
}

/// Where the first steps led.
pub(super) enum Step {
    /// To be decided.
    Decide { call: Box<Call>, parallel: bool },
    /// The view has no such tool.
    Absent { call: Box<Call>, reason: Reason },
    /// The arguments do not fit.
    Invalid {
        call: Box<Call>,
        tool: SnapshotTool,
        violations: Vec<Violation>,
    },
    /// The arguments are no JSON object that can be read.
    Unreadable {
        call: Box<Call>,
        tool: SnapshotTool,
        why: String,
    },
    /// Not to be sent because of another call.
    Skipped { call: Box<Call>, code: OutcomeCode },
}

impl Prepared {
    pub(crate) const fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether it may run beside others.
    pub(crate) const fn parallel(&self) -> bool {
        match self.step {
            Step::Decide { parallel, .. } => parallel,
            // What is not sent is in nobody's way.
            Step::Absent { .. } | Step::Invalid { .. } | Step::Unreadable { .. } | Step::Skipped { .. } => {
                true
            }
        }
    }

    pub(crate) const fn is_invalid(&self) -> bool {
        matches!(self.step, Step::Invalid { .. } | Step::Unreadable { .. })
    }

    /// What makes it the same request as another.
    pub(crate) fn key(&self) -> Option<(Arc<str>, Digest)> {
        match &self.step {
            Step::Decide { call, .. } => Some((self.name.clone(), call.arguments.digest())),
            Step::Absent { .. } | Step::Invalid { .. } | Step::Unreadable { .. } | Step::Skipped { .. } => {
                None
            }
        }
    }

    pub(crate) fn skip(&mut self, code: OutcomeCode) {
        let call = match &self.step {
            Step::Decide { call, .. }
            | Step::Absent { call, .. }
            | Step::Invalid { call, .. }
            | Step::Unreadable { call, .. }
            | Step::Skipped { call, .. } => call.clone(),
        };
        self.step = Step::Skipped { call, code };
    }
}

impl Gateway {
    /// Takes the first steps of a call; `surface` is the operator's one it came through, if it did.
    pub(crate) fn prepare(&self, view: &View, request: ToolRequest, surface: Option<Surface>) -> Prepared {
        let ToolRequest {
            name,
            arguments,
            exchange,
        } = request;
        let step = self.first_steps(view, &name, arguments, (&exchange, surface));
        Prepared { name, step, exchange }
    }

    fn first_steps(
        &self,
        view: &View,
        name: &Arc<str>,
        arguments: Option<Box<RawValue>>,
        (exchange, surface): (&Exchange, Option<Surface>),
    ) -> Step {
        let snapshot = view.snapshot();
        let found = snapshot
            .by_name(name)
            .or_else(|| view.by_former_name(name, self.inner.names));
        let (target, definition) = match (found, snapshot.why_absent(name)) {
            (Some(tool), _) => (tool.tool.clone(), tool.definition),
            (None, Some(absent)) => (absent.tool.clone(), Digest::of(b"")),
            (None, None) => (ToolRef::Capability(name.clone()), Digest::of(b"")),
        };
        let (arguments, unreadable) = read(arguments);
        let adapter = found
            .and_then(|tool| view.known(tool))
            .and_then(KnownTool::adapter);
        let arguments = match adapter {
            // What was judged is what is sent.
            Some(adapter) if unreadable.is_none() => adapter.arguments(arguments),
            Some(_) | None => arguments,
        };
        let call = Box::new(Call {
            id: CallId::generate(),
            principal: view.key.principal,
            agent: Some(view.agent.id),
            channel: view.key.channel,
            surface,
            run: exchange.run,
            target: Target::Tool(target),
            exposed: found.map_or_else(|| name.clone(), |tool| tool.exposed.clone()),
            definition,
            arguments,
        });
        let Some(tool) = found else {
            let unknown = || Reason::new(ReasonCode::UnknownTool);
            let reason = snapshot
                .why_absent(name)
                .map_or_else(unknown, |absent| absent.reason.clone());
            return Step::Absent { call, reason };
        };
        if let Some(why) = unreadable {
            return Step::Unreadable {
                call,
                tool: tool.clone(),
                why,
            };
        }
        match self.check(view, tool, &call.arguments) {
            Ok(()) => Step::Decide {
                call,
                parallel: tool.parallel,
            },
            Err(violations) => Step::Invalid {
                call,
                tool: tool.clone(),
                violations,
            },
        }
    }

    /// Checks arguments against the pinned schema. A schema that cannot be compiled keeps its tool out of every view; should one
    /// get here all the same, nothing is sent.
    fn check(&self, view: &View, tool: &SnapshotTool, arguments: &Arguments) -> Result<(), Vec<Violation>> {
        match view.known(tool) {
            Some(KnownTool::Imported(imported)) => imported.check(&self.inner.schemas, arguments.value()),
            Some(KnownTool::Capability { id, .. }) => self.check_capability(id, arguments.value()),
            None => Err(vec![unusable("its definition is not known".to_owned())]),
        }
    }
}

/// Reads arguments; none means `{}`. What cannot be read is replaced by `{}` in the record, and the reason kept.
fn read(arguments: Option<Box<RawValue>>) -> (Arguments, Option<String>) {
    let Some(raw) = arguments else {
        return (Arguments::empty(), None);
    };
    match Arguments::new(raw) {
        Ok(arguments) if arguments.value().is_object() => (arguments, None),
        Ok(_) => (
            Arguments::empty(),
            Some("the arguments must be a JSON object".to_owned()),
        ),
        Err(error) => (
            Arguments::empty(),
            Some(format!(
                "the arguments cannot be read as JSON ({:?} error)",
                error.classify()
            )),
        ),
    }
}
