//! The names callers use: legal, unique, deterministic. They are stored and looked up, never split.

use std::sync::Arc;

use domain::{ConnectionId, Namespace, ToolRef};

/// How long an exposed name may be, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameLimits {
    max: usize,
}

impl NameLimits {
    /// What no setting may exceed: common clients and model providers refuse more.
    pub const CEILING: usize = 64;
    /// The shortest useful limit: a stem, `_` and eight digits.
    pub const FLOOR: usize = 16;

    /// A limit, held between floor and ceiling.
    #[must_use]
    pub const fn new(max: usize) -> Self {
        let max = if max > Self::CEILING { Self::CEILING } else { max };
        Self { max: if max < Self::FLOOR { Self::FLOOR } else { max } }
    }

    /// The limit.
    #[must_use]
    pub const fn max(self) -> usize {
        self.max
    }
}

impl Default for NameLimits {
    /// 46: clients put their own prefix in front.
    fn default() -> Self {
        Self { max: 46 }
    }
}

/// A tool that needs a name.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Which tool.
    pub tool: &'a ToolRef,
    /// The prefix; none for capabilities and at the single-connection endpoint.
    pub namespace: Option<&'a Namespace>,
}

/// The name of one upstream tool on its own: `<namespace>__<tool>` (or the tool alone), illegal characters replaced by `_`; one
/// that is too long is cut and ends in `_` and eight hexadecimal digits.
#[must_use]
pub fn expose(namespace: Option<&Namespace>, upstream: &str, connection: ConnectionId, limits: NameLimits) -> Arc<str> {
    let _ = (namespace, upstream, connection, limits);
    todo!()
}

/// Names for all tools together, in the order given. Names that would be equal, even in another case, end in digits of a digest;
/// a capability keeps its plain name. The result for a tool does not depend on the order.
#[must_use]
pub fn assign(tools: &[Named<'_>], limits: NameLimits) -> Vec<Arc<str>> {
    let _ = (tools, limits);
    todo!()
}
