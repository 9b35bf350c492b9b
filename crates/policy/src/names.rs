//! The names callers use: legal, unique, deterministic. They are stored and looked up, never split.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use domain::{ConnectionId, Digest, Namespace, ToolRef};

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
        Self {
            max: if max < Self::FLOOR { Self::FLOOR } else { max },
        }
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
pub fn expose(
    namespace: Option<&Namespace>,
    upstream: &str,
    connection: ConnectionId,
    limits: NameLimits,
) -> Arc<str> {
    let tool = ToolRef::Upstream {
        connection,
        name: upstream.into(),
    };
    plain(
        &Named {
            tool: &tool,
            namespace,
        },
        limits,
    )
    .into()
}

/// Names for all tools together, in the order given. Names that would be equal, even in another case, end in digits of a digest;
/// a capability keeps its plain name. The result for a tool does not depend on the order; no tool may be given twice.
#[must_use]
pub fn assign(tools: &[Named<'_>], limits: NameLimits) -> Vec<Arc<str>> {
    let plains: Vec<String> = tools.iter().map(|t| plain(t, limits)).collect();
    let mut wanted: HashMap<String, Contest> = HashMap::with_capacity(tools.len());
    for (tool, name) in tools.iter().zip(&plains) {
        wanted.entry(name.to_ascii_lowercase()).or_default().add(tool);
    }
    let mut taken = HashSet::with_capacity(tools.len());
    let mut names: Vec<Option<Arc<str>>> = Vec::with_capacity(tools.len());
    for (tool, name) in tools.iter().zip(plains) {
        let folded = name.to_ascii_lowercase();
        let wins = wanted.get(&folded).is_some_and(|contest| contest.won_by(tool));
        names.push(wins.then(|| {
            taken.insert(folded);
            name.into()
        }));
    }
    let mut losers: Vec<(&Named<'_>, &mut Option<Arc<str>>)> = tools
        .iter()
        .zip(&mut names)
        .filter(|(_, name)| name.is_none())
        .collect();
    losers.sort_by_key(|(tool, _)| tool.tool);
    for (tool, name) in losers {
        *name = (0_u32..)
            .map(|round| marked(&stem(tool), tool.tool, round, limits))
            .find(|candidate| taken.insert(candidate.to_ascii_lowercase()))
            .map(Into::into);
    }
    names.into_iter().flatten().collect()
}

/// Who wants one name.
#[derive(Default)]
struct Contest {
    capabilities: usize,
    upstreams: usize,
}

impl Contest {
    const fn add(&mut self, tool: &Named<'_>) {
        match tool.tool {
            ToolRef::Capability(_) => self.capabilities += 1,
            ToolRef::Upstream { .. } => self.upstreams += 1,
        }
    }

    /// An upstream can never take a name from a capability, nor one tool of an upstream from another.
    const fn won_by(&self, tool: &Named<'_>) -> bool {
        match tool.tool {
            ToolRef::Capability(_) => self.capabilities == 1,
            ToolRef::Upstream { .. } => self.capabilities == 0 && self.upstreams == 1,
        }
    }
}

fn plain(tool: &Named<'_>, limits: NameLimits) -> String {
    let stem = stem(tool);
    if stem.len() <= limits.max {
        stem
    } else {
        marked(&stem, tool.tool, 0, limits)
    }
}

/// The whole name in legal characters, however long; ASCII only.
fn stem(tool: &Named<'_>) -> String {
    let own = tool.tool.name();
    let prefix = tool.namespace.map_or("", Namespace::as_str);
    let mut out = String::with_capacity(prefix.len() + 2 + own.len());
    if !prefix.is_empty() {
        out.push_str(prefix);
        out.push_str("__");
    }
    out.extend(own.chars().map(|c| {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            c
        } else {
            '_'
        }
    }));
    if own.is_empty() {
        out.push_str("tool");
    }
    out
}

fn marked(stem: &str, tool: &ToolRef, round: u32, limits: NameLimits) -> String {
    let keep = limits.max.saturating_sub(MARK);
    let mut out: String = stem.chars().take(keep).collect();
    let source = match tool {
        ToolRef::Capability(id) => format!("capability\0{id}\0{round}"),
        ToolRef::Upstream { connection, name } => format!("{connection}\0{name}\0{round}"),
    };
    out.push('_');
    out.extend(Digest::of(source.as_bytes()).to_string().chars().take(MARK - 1));
    out
}

/// `_` and eight digits.
const MARK: usize = 9;
