//! A call from a surface: what it brings, the steps it takes, and what it gets back.

mod conclude;
mod dispatch;
mod held;
pub(crate) mod prepare;
mod probe;
mod reply;
mod request;

pub(crate) use conclude::record_unavailable;
pub(crate) use dispatch::Asked;
pub(crate) use held::Held;
pub use probe::{ProbeRequest, Probed};
pub use reply::{ApprovalNotice, Notice, ReplyBody, ToolReply};
pub use request::{ContextRequest, Exchange, ToolRequest};

use std::sync::Arc;

use domain::Surface;

use crate::capability::Carried;
use crate::{Gateway, View};

impl Gateway {
    /// Makes one call. Whatever happens, the caller gets something it can go on with.
    pub async fn call(&self, view: &Arc<View>, request: ToolRequest) -> ToolReply {
        let prepared = self.prepare(view, request, None);
        self.conclude(view, prepared).await
    }

    /// Makes a call that an operator's capability carries. It is the one entry of both, and names the operator's surface.
    pub(crate) async fn carry(&self, carried: Carried, surface: Surface) -> ToolReply {
        let Carried { view, request } = carried;
        let prepared = self.prepare(&view, request, Some(surface));
        self.conclude(&view, prepared).await
    }
}
