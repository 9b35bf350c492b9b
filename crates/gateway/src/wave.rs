//! The calls of one model response: those that only read side by side, the rest one by one, an answer for every one.

use std::collections::HashSet;
use std::sync::Arc;

use domain::{Digest, Outcome, OutcomeCode};
use futures::future::join_all;

use crate::call::prepare::Prepared;
use crate::{Gateway, ReplyBody, ToolReply, ToolRequest, View};

/// Most calls of one wave.
pub(crate) const WAVE: usize = 8;

/// What a run remembers of requests that servers rejected, so that the same one is not sent twice.
#[derive(Debug, Default)]
pub struct Rejections {
    exact: HashSet<(Arc<str>, Digest)>,
}

impl Gateway {
    /// Makes the calls of one model response. Answers come in the order of the calls, one for each. After arguments that do not
    /// fit the schema, later calls to that tool are not sent; after a server rejected arguments, later waves of that tool are
    /// skipped; a request that was rejected exactly so before, in this response or an earlier one of the run, is not repeated.
    pub async fn call_all(
        &self,
        view: &Arc<View>,
        requests: Vec<ToolRequest>,
        rejections: &mut Rejections,
    ) -> Vec<ToolReply> {
        let mut prepared: Vec<Prepared> = requests
            .into_iter()
            .map(|request| self.prepare(view, request, None))
            .collect();
        skip_after_invalid(&mut prepared);
        let mut replies = Vec::with_capacity(prepared.len());
        let mut rejected_tools: HashSet<Arc<str>> = HashSet::new();
        let mut rest = prepared.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut wave = vec![first];
            while wave.len() < WAVE
                && wave.iter().all(Prepared::parallel)
                && let Some(next) = rest.next_if(Prepared::parallel)
            {
                wave.push(next);
            }
            for call in &mut wave {
                let repeated = call.key().is_some_and(|key| rejections.exact.contains(&key));
                if repeated {
                    call.skip(OutcomeCode::RepeatedRejection);
                } else if rejected_tools.contains(call.name()) {
                    call.skip(OutcomeCode::SkippedAfterFailure);
                }
            }
            let keys: Vec<_> = wave
                .iter()
                .map(|call| (call.name().clone(), call.key()))
                .collect();
            let answers = join_all(wave.into_iter().map(|call| self.conclude(view, call))).await;
            for ((name, key), answer) in keys.into_iter().zip(&answers) {
                if answer.outcome.code == Some(OutcomeCode::ArgumentsRejected) {
                    rejections.exact.extend(key);
                    rejected_tools.insert(name);
                }
            }
            replies.extend(answers);
        }
        replies
    }
}

/// Later calls to a tool one of whose calls does not fit its schema are skipped: the model is asked to correct one first.
fn skip_after_invalid(calls: &mut [Prepared]) {
    let mut failed: HashSet<Arc<str>> = HashSet::new();
    for call in calls {
        if failed.contains(call.name()) {
            call.skip(OutcomeCode::SkippedAfterFailure);
        } else if call.is_invalid() {
            failed.insert(call.name().clone());
        }
    }
}

/// The text for a call that was not sent because of another one.
pub(crate) const fn skipped_text(code: OutcomeCode) -> &'static str {
    match code {
        OutcomeCode::RepeatedRejection => {
            "not sent: the server rejected exactly this request before; change the arguments"
        }
        _ => {
            "not sent: an earlier call to this tool in the same response failed; correct one call first, then go on"
        }
    }
}

/// Whether a reply tells the caller anything to use.
impl ToolReply {
    /// Whether the tool answered and did not say that it failed.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.outcome == Outcome::SUCCEEDED && matches!(self.body, ReplyBody::Result(_))
    }
}
