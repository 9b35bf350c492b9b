//! What outlives who opened it: sessions and waiting calls of keys that were revoked and of agents that are gone. One task for all.

use domain::Principal;
use gateway::{Change, Changed, View};
use tokio::sync::broadcast::error::RecvError;

use super::session::Session;
use crate::state::AppState;

/// Ends what has lost its owner, whenever an owner may have been lost.
pub(crate) async fn end_orphans(state: AppState) {
    let mut changes = state.gateway.changes();
    loop {
        match changes.recv().await {
            Ok(Change {
                what: Changed::Policy | Changed::Keys,
                ..
            })
            | Err(RecvError::Lagged(_)) => sweep(&state),
            Ok(_) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

fn sweep(state: &AppState) {
    let orphan = |session: &Session| !state.holds(&session.owner) || session.lost_agent(&state.gateway);
    state.sessions.end_where(&state.gateway, orphan);
    state
        .sessions
        .inner
        .parked
        .drop_where(|owner| !state.holds(owner));
}

/// Whether a stream is over: its key was revoked, or its agent, enabled when it began, is disabled.
pub(super) fn is_over(state: &AppState, principal: &Principal, (view, enabled): (&View, bool)) -> bool {
    !state.holds(principal) || (enabled && !view.agent().enabled)
}
