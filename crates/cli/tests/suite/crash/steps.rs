//! Bringing a call to a step and holding it there.

use serde_json::Value;
use testkit::database::Held;
use tokio::task::JoinHandle;

use super::{Case, Step};
use crate::client::Client;
use crate::scene::Scene;

/// A call that is held.
pub(super) struct Reached {
    /// What keeps the server from writing.
    pub(super) held: Option<Held>,
    pub(super) call: JoinHandle<Option<Value>>,
}

/// Calls, and returns once the call has come that far.
pub(super) async fn reach(scene: &Scene, client: &Client, case: &Case) -> Reached {
    let (before, upstream) = (scene.listed(&[]), &scene.upstream);
    let (calls, openings) = (upstream.calls(), upstream.heard("initialize"));
    let reads = case.tool.ends_with("read");
    let mut held = None;
    if matches!(case.step, Step::Unwritten | Step::UnwrittenAnswered) {
        held = Some(scene.database.hold("journal").await.unwrap());
    }
    match case.step {
        Step::Unsent => upstream.hold("initialize"),
        Step::Unwritten | Step::Sent | Step::Unended => upstream.hold("tools/call"),
        Step::UnwrittenAnswered | Step::Ended => {}
    }
    let call = client.call(case.tool);
    match case.step {
        Step::Unwritten | Step::UnwrittenAnswered => {
            if reads {
                upstream.until_heard("tools/call", calls + 1).await;
            }
            if let Some(held) = &held {
                scene.until_it_waits(held).await;
            }
        }
        Step::Unsent => {
            upstream.until_heard("initialize", openings + 1).await;
            scene.until_listed(&before, "started").await;
        }
        Step::Sent => {
            upstream.until_heard("tools/call", calls + 1).await;
            scene.until_listed(&before, "started").await;
        }
        Step::Unended => {
            upstream.until_heard("tools/call", calls + 1).await;
            scene.until_listed(&before, "started").await;
            held = Some(scene.database.hold("journal").await.unwrap());
            upstream.release();
            // The answer does not wait for the record of the end.
            scene
                .until("it is answered", || call.is_finished().then_some(()))
                .await;
            if let Some(held) = &held {
                scene.until_it_waits(held).await;
            }
        }
        Step::Ended => scene.until_listed(&before, "succeeded").await,
    }
    Reached { held, call }
}
