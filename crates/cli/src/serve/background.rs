//! What goes on beside requests: following connections, closing questions, noting uses of keys.

use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::wire::Parts;

/// How often questions whose time is over are closed.
const EXPIRE_EVERY: Duration = Duration::from_secs(5);
/// How often uses of keys are written down, and stale idempotency keys dropped.
const TIDY_EVERY: Duration = Duration::from_secs(60);

pub(super) fn start(parts: &Parts, stop: CancellationToken) {
    spawn(follow(parts.clone()), stop.clone());
    spawn(follow_others(parts.clone()), stop.clone());
    spawn(expire(parts.clone()), stop.clone());
    spawn(tidy(parts.clone()), stop);
}

fn spawn(work: impl Future<Output = ()> + Send + 'static, stop: CancellationToken) {
    tokio::spawn(async move { stop.run_until_cancelled(work).await });
}

/// Discoveries and health change what agents see.
async fn follow(parts: Parts) {
    let mut events = parts.connections.events();
    loop {
        let tenant = match events.recv().await {
            Ok(event) => {
                if parts.gateway.follow(&event) {
                    event.tenant
                } else {
                    continue;
                }
            }
            Err(RecvError::Lagged(_)) => parts.tenant,
            Err(RecvError::Closed) => return,
        };
        if let Err(error) = parts.gateway.refresh(tenant).await {
            tracing::error!(%error, "the policy facts could not be read again");
        }
    }
}

/// What other processes change in the same database is in force here too, as soon as it tells.
async fn follow_others(parts: Parts) {
    let mut others = parts.store.others();
    while others.changed().await.is_ok() {
        if let Err(error) = parts.credentials.reread().await {
            tracing::error!(%error, "the keys could not be read again");
        }
        if let Err(error) = parts.gateway.catch_up(parts.tenant).await {
            tracing::error!(%error, "what another process changed could not be taken up");
        }
    }
}

async fn expire(parts: Parts) {
    let mut clock = tokio::time::interval(EXPIRE_EVERY);
    loop {
        clock.tick().await;
        if let Err(error) = parts.gateway.expire_approvals().await {
            tracing::error!(%error, "approvals could not be closed");
        }
    }
}

async fn tidy(parts: Parts) {
    let mut clock = tokio::time::interval(TIDY_EVERY);
    loop {
        clock.tick().await;
        if let Err(error) = parts.credentials.keys.write_uses().await {
            tracing::warn!(%error, "uses of keys could not be noted");
        }
        if let Err(error) = parts.store.purge_idempotent().await {
            tracing::warn!(%error, "old idempotency keys could not be dropped");
        }
        parts.people.tidy();
        if let Err(error) = parts.store.purge_tokens().await {
            tracing::warn!(%error, "lapsed tokens of clients could not be dropped");
        }
    }
}
