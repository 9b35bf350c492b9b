//! A call from a surface: what it brings, the steps it takes, and what it gets back.

mod conclude;
mod dispatch;
pub(crate) mod prepare;
mod reply;
mod request;

pub(crate) use conclude::record_unavailable;
pub(crate) use dispatch::Asked;
pub use reply::{ApprovalNotice, Notice, ReplyBody, ToolReply};
pub use request::{ContextRequest, Exchange, ToolRequest};

use std::sync::Arc;

use crate::{Gateway, View};

impl Gateway {
    /// Makes one call. Whatever happens, the caller gets something it can go on with.
    pub async fn call(&self, view: &Arc<View>, request: ToolRequest) -> ToolReply {
        let prepared = self.prepare(view, request);
        self.conclude(view, prepared).await
    }
}
