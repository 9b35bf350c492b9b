//! A view against today: what a run began with, and what was taken away since.

use std::sync::Arc;

use domain::{Call, Effect, Reason, ReasonCode, Risk, Target};
use policy::Denial;

use super::View;
use crate::Gateway;

/// How a view stands to the facts of now.
pub(crate) enum Today {
    /// It was composed from them.
    Same,
    /// This is the view of now.
    Other(Arc<View>),
    /// There is none any more: the agent or the connection is gone.
    Gone,
}

impl Gateway {
    /// The view of now, where it is another.
    pub(crate) fn today(&self, view: &View) -> Today {
        let same = |workspace| Arc::ptr_eq(&workspace, &view.workspace);
        if self.workspace(view.key.principal.tenant).is_ok_and(same) {
            return Today::Same;
        }
        self.view(&view.key).map_or(Today::Gone, Today::Other)
    }
}

/// The denial of a call whose agent or connection is gone.
pub(crate) fn revoked(view: &View, call: Call) -> Denial {
    let snapshot = view.snapshot();
    let (risk, effect) = match &call.target {
        Target::Tool(tool) => snapshot
            .by_tool(tool)
            .map_or((Risk::High, Effect::Mutating), |known| (known.risk, known.effect)),
        Target::Prompt { .. } | Target::Resource { .. } | Target::Skill { .. } => {
            (Risk::Low, Effect::ReadOnly)
        }
    };
    Denial {
        call,
        reason: Reason::new(ReasonCode::Revoked),
        risk,
        effect,
        approval: None,
        epoch: snapshot.epoch,
        snapshot: Some(snapshot.digest),
    }
}
