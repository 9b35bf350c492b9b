//! What is known before anything is decided.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::{
    Agent, AgentId, Answer, Approval, ApprovalId, ApprovalState, Channel, ConnectionId, ConnectionOwner,
    ContextSelection, DefinitionState, Digest, Effect, Epoch, Grant, Hints, Namespace, Principal, Risk,
    Surface, Target, Tenant, Timestamp, ToolRef,
};

use crate::{Effective, NameLimits, RuleSet, fingerprint};

/// Which door the tools are shown at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndpointScope {
    /// Everything the agent has, connections' tools with their namespace in front.
    All,
    /// One connection alone (`/mcp/{agent}/{connection}`): its tools under their own names, nothing else.
    Connection(ConnectionId),
}

/// What happens to tools that appear on an agent-bound connection after a person set it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AcceptNewTools {
    /// They are granted like the rest.
    #[default]
    Admit,
    /// Only those classified low risk are; the others wait for a person.
    LowRisk,
    /// All wait for a person.
    Quarantine,
}

/// What deciding needs to know of a connection.
#[derive(Debug, Clone)]
pub struct ConnectionFact {
    /// Its id.
    pub id: ConnectionId,
    /// Whose it is. A connection owned by one agent is an implied unattended grant of what it offers to that agent.
    pub owner: ConnectionOwner,
    /// The prefix of its tools' names; rules know it as `resource.connection`.
    pub namespace: Namespace,
    /// Off: nothing of it can be used.
    pub enabled: bool,
    /// A person said that it is trusted.
    pub trusted: bool,
    /// It has been discovered and there is a catalogue to call from.
    pub ready: bool,
    /// The upstream names it offers; none = all.
    pub allowed_tools: Option<Arc<[Arc<str>]>>,
    /// Which prompts, resources and skills it offers.
    pub context: ContextSelection,
    /// What happens to tools nobody has seen yet; matters for agent-bound connections only.
    pub accept_new_tools: AcceptNewTools,
    /// Tools every agent may use without a grant of its own as long as they are low risk, because the platform itself gave the
    /// connection to the workspace. A grant that denies takes one away.
    pub default_tools: Arc<[Arc<str>]>,
}

/// What deciding needs to know of a tool.
#[derive(Debug, Clone)]
pub struct ToolFact {
    /// Which tool.
    pub tool: ToolRef,
    /// Its pinned definition.
    pub definition: Digest,
    /// Where that definition stands; always pinned for a capability.
    pub state: DefinitionState,
    /// Its risk: declared for a capability; for an imported tool high until a person classifies it.
    pub risk: Risk,
    /// Whether it changes something, by a person's or preset's word or by declaration.
    pub effect: Effect,
    /// The upstream's own annotations: the read-only one makes it eligible for waves, nothing more.
    pub hints: Hints,
    /// For a capability, where it is declared; ignored for a connection's tools.
    pub surfaces: Arc<[Surface]>,
    /// A person has seen it: it was there when the connection was set up, or was accepted since.
    pub seen: bool,
}

/// A turn's own tool policy. It narrows; nothing in it can give.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnPolicy {
    /// Only these; none = no limit.
    pub only: Option<BTreeSet<ToolRef>>,
    /// Not these.
    pub without: BTreeSet<ToolRef>,
    /// Nothing riskier than this.
    pub max_risk: Option<Risk>,
    /// A person is asked from this risk on, even where the grant says unattended.
    pub ask_from: Option<Risk>,
}

/// Everything [`crate::compose`] looks at. The order of the slices does not matter.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Whose.
    pub tenant: Tenant,
    /// Who is asking; with an admin key, not the agent itself.
    pub principal: Principal,
    /// The agent acting or acted for.
    pub agent: &'a Agent,
    /// Where the run comes from.
    pub channel: Channel,
    /// The policy epoch the facts were read under.
    pub epoch: Epoch,
    /// Which door.
    pub endpoint: EndpointScope,
    /// Grants; those of other agents are ignored.
    pub grants: &'a [Grant],
    /// The workspace's connections.
    pub connections: &'a [ConnectionFact],
    /// All tools: built-in capabilities and those of the connections.
    pub tools: &'a [ToolFact],
    /// The turn's own policy.
    pub turn: Option<&'a TurnPolicy>,
    /// What the channel carries; none = everything.
    pub carried: Option<&'a BTreeSet<ToolRef>>,
    /// The operator's rules.
    pub rules: &'a RuleSet,
    /// How long exposed names may be.
    pub names: NameLimits,
}

impl Facts<'_> {
    /// A digest of everything here but the epoch: equal facts in the same order compose to the same snapshot, which need not be
    /// composed again.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        fingerprint::of(self)
    }
}

/// A person's answer, as far as deciding needs it. Everything it is bound to is checked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalFact {
    /// Which question.
    pub id: ApprovalId,
    /// Who asked.
    pub principal: Principal,
    /// For which agent.
    pub agent: AgentId,
    /// For which target.
    pub target: Target,
    /// By which definition.
    pub definition: Digest,
    /// With which arguments.
    pub arguments: Digest,
    /// The answer.
    pub answer: Answer,
    /// When the answer lapses.
    pub expires_at: Timestamp,
}

impl ApprovalFact {
    /// The fact of an answered question; none while it is pending, spent or expired.
    #[must_use]
    pub fn of(approval: &Approval) -> Option<Self> {
        let answer = match approval.state {
            ApprovalState::Approved => Answer::Approved,
            ApprovalState::Denied => Answer::Denied,
            ApprovalState::Pending | ApprovalState::Spent | ApprovalState::Expired => return None,
        };
        Some(Self {
            id: approval.id,
            principal: approval.principal,
            agent: approval.agent,
            target: approval.target.clone(),
            definition: approval.definition,
            arguments: approval.arguments,
            answer,
            expires_at: approval.expires_at,
        })
    }
}

/// What is known at the moment of the call.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// Now.
    pub now: Timestamp,
    /// An answered question that may be about this call.
    pub approval: Option<&'a ApprovalFact>,
    /// Today's view, when the call is decided in an older snapshot of a run. The stricter of the two wins.
    pub current: Option<&'a Effective>,
    /// The replica has been without its change feed for too long: everything is denied until it is back.
    pub stale: bool,
}

impl CallFacts<'_> {
    /// A call now, in the current view, without an answered question.
    #[must_use]
    pub const fn at(now: Timestamp) -> Self {
        Self {
            now,
            approval: None,
            current: None,
            stale: false,
        }
    }
}
