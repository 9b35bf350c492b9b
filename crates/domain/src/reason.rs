//! Why a decision is what it is, in words for people and in codes for programs.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::risk::words;

/// The stable code of a reason. Codes are never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonCode {
    /// No grant names this tool for this agent.
    NoGrant,
    /// A grant denies it.
    GrantDenies,
    /// A grant allows it.
    GrantAllows,
    /// The platform gives it to every agent.
    PlatformDefault,
    /// A grant allows it without asking.
    GrantUnattended,
    /// A grant asks.
    GrantAsks,
    /// Its risk asks.
    HighRisk,
    /// A rule forbids it.
    RuleForbids,
    /// A rule asks.
    RuleAsks,
    /// A rule could not be evaluated, which denies.
    RuleFailed,
    /// A person approved exactly this call.
    Approved,
    /// A person refused exactly this call.
    Refused,
    /// The agent is disabled.
    AgentDisabled,
    /// No person has taken the agent as theirs.
    AgentUnclaimed,
    /// The connection is disabled.
    ConnectionDisabled,
    /// No person said that this connection is trusted.
    ConnectionUntrusted,
    /// The connection has not been discovered, or cannot be reached.
    ConnectionNotReady,
    /// The connection's allowlist does not name it.
    NotOffered,
    /// Its definition changed and nobody accepted the change.
    Quarantined,
    /// The server no longer lists it.
    Gone,
    /// Its schema cannot be compiled.
    SchemaUnusable,
    /// It is not declared for this surface or endpoint.
    Surface,
    /// The turn's own policy leaves it out.
    TurnPolicy,
    /// The channel does not carry it.
    ChannelExcludes,
    /// It was taken away after the snapshot was made.
    Revoked,
    /// Nothing by that name exists in this view.
    UnknownTool,
    /// The facts are too old to decide on.
    PolicyStale,
    /// The turn's own policy asks.
    TurnAsks,
    /// The credential may use this capability on this surface.
    RoleAllows,
    /// The credential may not use this capability.
    RoleDenies,
}

words!(
    ReasonCode,
    "reason code",
    NoGrant = "no_grant",
    GrantDenies = "grant_denies",
    GrantAllows = "grant_allows",
    PlatformDefault = "platform_default",
    GrantUnattended = "grant_unattended",
    GrantAsks = "grant_asks",
    HighRisk = "high_risk",
    RuleForbids = "rule_forbids",
    RuleAsks = "rule_asks",
    RuleFailed = "rule_failed",
    Approved = "approved",
    Refused = "refused",
    AgentDisabled = "agent_disabled",
    AgentUnclaimed = "agent_unclaimed",
    ConnectionDisabled = "connection_disabled",
    ConnectionUntrusted = "connection_untrusted",
    ConnectionNotReady = "connection_not_ready",
    NotOffered = "not_offered",
    Quarantined = "quarantined",
    Gone = "gone",
    SchemaUnusable = "schema_unusable",
    Surface = "surface",
    TurnPolicy = "turn_policy",
    ChannelExcludes = "channel_excludes",
    Revoked = "revoked",
    UnknownTool = "unknown_tool",
    PolicyStale = "policy_stale",
    TurnAsks = "turn_asks",
    RoleAllows = "role_allows",
    RoleDenies = "role_denies"
);

/// A reason: its code, the rule that spoke where one did, and a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The code.
    pub code: ReasonCode,
    /// The id of the deciding rule.
    pub rule: Option<Arc<str>>,
}

impl Reason {
    /// A reason no rule is behind.
    #[must_use]
    pub const fn new(code: ReasonCode) -> Self {
        Self { code, rule: None }
    }

    /// A rule's reason.
    #[must_use]
    pub fn by_rule(code: ReasonCode, rule: impl Into<Arc<str>>) -> Self {
        Self {
            code,
            rule: Some(rule.into()),
        }
    }

    /// The sentence for people: what is so, and what would change it.
    #[must_use]
    pub const fn sentence(&self) -> &'static str {
        match self.code {
            ReasonCode::NoGrant => "no grant gives this agent this tool; an administrator can grant it",
            ReasonCode::GrantDenies => "a grant denies this agent this tool; an administrator can change it",
            ReasonCode::GrantAllows => "a grant allows this agent this tool",
            ReasonCode::PlatformDefault => {
                "the platform gives every agent this tool; a grant that denies it takes it away"
            }
            ReasonCode::GrantUnattended => "a grant lets this agent use this tool without asking",
            ReasonCode::GrantAsks => "the grant asks a person before every call",
            ReasonCode::HighRisk => {
                "the tool is classified high risk, so a person is asked before every call"
            }
            ReasonCode::RuleForbids => "a rule forbids this call",
            ReasonCode::RuleAsks => "a rule asks a person before this call",
            ReasonCode::RuleFailed => {
                "a rule could not be evaluated for this call, which denies it; correct the rule"
            }
            ReasonCode::Approved => "a person approved exactly this call",
            ReasonCode::Refused => "a person refused exactly this call",
            ReasonCode::AgentDisabled => "the agent is disabled",
            ReasonCode::AgentUnclaimed => "no person has taken the agent as theirs",
            ReasonCode::ConnectionDisabled => "the connection is disabled; an administrator can enable it",
            ReasonCode::ConnectionUntrusted => {
                "nobody has said that this connection is trusted; an administrator can"
            }
            ReasonCode::ConnectionNotReady => {
                "the connection has not been discovered yet or cannot be reached; test or refresh it"
            }
            ReasonCode::NotOffered => "the connection's list of allowed tools leaves it out",
            ReasonCode::Quarantined => {
                "the tool's definition changed; a person must look at the difference and accept it"
            }
            ReasonCode::Gone => "the server no longer lists this tool",
            ReasonCode::SchemaUnusable => {
                "the tool's schema cannot be compiled, so its arguments cannot be checked"
            }
            ReasonCode::Surface => "it is not offered on this surface",
            ReasonCode::TurnPolicy => "this turn's tool policy leaves it out",
            ReasonCode::ChannelExcludes => "this channel does not carry it",
            ReasonCode::Revoked => "it was taken away after this run began",
            ReasonCode::UnknownTool => "there is no such tool in this view",
            ReasonCode::PolicyStale => {
                "the policy facts are too old to decide on; the call is refused until they are fresh"
            }
            ReasonCode::TurnAsks => "this turn's tool policy asks a person before a call of this risk",
            ReasonCode::RoleAllows => "this credential may use this capability on this surface",
            ReasonCode::RoleDenies => {
                "this credential may not use this capability; use one of an administrator"
            }
        }
    }
}
