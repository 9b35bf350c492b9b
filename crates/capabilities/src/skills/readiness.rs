//! Whether the servers a skill needs are there and open for it. Only looks: asks no server and changes nothing.

use std::sync::Arc;

use ::connections::preset;
use api::skills::{Dependency, NotReady};
use api::words::{Readiness, SkillReason as Reason};
use domain::{
    AccountKind, AccountState, AccountStatus, Connection, ConnectionOwner, ConnectionState, DefinitionState,
    Health, Proof, SkillNeed, ToolRef,
};
use gateway::Workspace;
use gateway::capability::{Context, Failure};

use crate::find;

/// The connections of the caller's workspace, as they stand now.
pub(super) struct Servers {
    workspace: Arc<Workspace>,
    connections: Vec<Connection>,
    accounts: Vec<AccountState>,
}

impl Servers {
    pub(super) async fn of(context: &Context) -> Result<Self, Failure> {
        Ok(Self {
            workspace: find::workspace(context)?,
            connections: context.store().all_connections(context.tenant()).await?,
            accounts: context.store().all_accounts(context.tenant()).await?,
        })
    }

    /// How each of these needs stands.
    pub(super) fn judge(&self, needs: &[SkillNeed]) -> Vec<Dependency> {
        needs.iter().map(|need| self.dependency(need)).collect()
    }

    /// The best of the connections that fit. What is one agent's own is no server of the workspace.
    fn dependency(&self, need: &SkillNeed) -> Dependency {
        let fitting = self
            .connections
            .iter()
            .filter(|connection| connection.owner == ConnectionOwner::Workspace && fits(connection, need));
        let judged = fitting.map(|connection| (connection, self.reasons(connection, need)));
        let best = judged.min_by_key(|(_, reasons)| rank(worst(reasons.iter().map(|found| found.reason))));
        let (connection, reasons) = best.map_or_else(
            || (None, vec![about(Reason::Missing, None)]),
            |(connection, reasons)| (Some(connection), reasons),
        );
        Dependency {
            preset: need.preset.to_string(),
            variant: need.variant.as_ref().map(ToString::to_string),
            tools: need.tools.iter().map(ToString::to_string).collect(),
            connection_id: connection.map(|connection| connection.id.uuid()),
            readiness: worst(reasons.iter().map(|found| found.reason)),
            reasons,
        }
    }

    fn reasons(&self, connection: &Connection, need: &SkillNeed) -> Vec<NotReady> {
        let mut found: Vec<NotReady> = self
            .of_server(connection)
            .into_iter()
            .map(|reason| about(reason, None))
            .collect();
        let offered = preset::offered(connection);
        for tool in &need.tools {
            let name = self.workspace.present_name(connection, tool);
            let known = self.workspace.tool(&ToolRef::Upstream {
                connection: connection.id,
                name: name.into(),
            });
            match known.map(|known| known.state) {
                None if connection.catalogue_version == 0 => {
                    found.push(about(Reason::Undiscovered, Some(tool)));
                }
                None | Some(DefinitionState::Gone) => found.push(about(Reason::NotListed, Some(tool))),
                Some(DefinitionState::Quarantined | DefinitionState::Unusable) => {
                    found.push(about(Reason::ToolChanged, Some(tool)));
                }
                Some(DefinitionState::Pinned) => {}
            }
            let allowed = |names: &Vec<Arc<str>>| names.iter().any(|allowed| **allowed == *name);
            if !offered.as_ref().is_none_or(allowed) {
                found.push(about(Reason::NotAllowed, Some(tool)));
            }
        }
        found
    }

    fn of_server(&self, connection: &Connection) -> Vec<Reason> {
        let refused = connection
            .verified
            .is_some_and(|verified| verified.proof == Proof::Rejected);
        let health = match connection.health {
            Health::AuthRejected | Health::SignInRequired => Some(Reason::NeedsAuth),
            Health::Unreachable
            | Health::Timeout
            | Health::Protocol
            | Health::EgressRefused
            | Health::ProcessFailed
            | Health::NotConfigured => Some(Reason::Failed),
            Health::Unchecked => Some(Reason::Untested),
            Health::Ok | Health::Degraded | Health::RateLimited => None,
        };
        let failed = connection.state == ConnectionState::Error && health != Some(Reason::NeedsAuth);
        let auth = refused || self.lacks_credential(connection) || health == Some(Reason::NeedsAuth);
        let untested = health == Some(Reason::Untested) || connection.state == ConnectionState::Pending;
        [
            (!connection.enabled, Reason::Disabled),
            (!connection.trusted, Reason::Untrusted),
            (failed || health == Some(Reason::Failed), Reason::Failed),
            (auth, Reason::NeedsAuth),
            (untested || !proven(connection), Reason::Untested),
        ]
        .into_iter()
        .filter_map(|(holds, reason)| holds.then_some(reason))
        .collect()
    }

    fn lacks_credential(&self, connection: &Connection) -> bool {
        match connection.account.kind {
            AccountKind::None | AccountKind::ClientCredentials | AccountKind::PrivateKeyJwt => false,
            AccountKind::Bearer | AccountKind::Header => !connection.account.configured,
            AccountKind::Oauth => !self.accounts.iter().any(|account| {
                account.connection == connection.id && account.status == AccountStatus::Connected
            }),
        }
    }
}

/// Whether a connection was made from the preset that is needed, and from the variant where one is.
fn fits(connection: &Connection, need: &SkillNeed) -> bool {
    connection.preset.as_ref().is_some_and(|made| {
        let same = preset::find(&made.id).is_some_and(|preset| preset.id == *need.preset);
        same && need
            .variant
            .as_ref()
            .is_none_or(|variant| *variant == made.variant)
    })
}

/// Where listing tools says nothing about the credential, a call has to.
fn proven(connection: &Connection) -> bool {
    let listing = connection
        .preset
        .as_ref()
        .and_then(preset::of)
        .is_none_or(|(_, variant)| variant.listing_proves);
    listing
        || connection
            .verified
            .is_some_and(|verified| verified.proof == Proof::Proven)
}

/// What a server of these reasons is to a skill.
pub(super) fn worst(reasons: impl IntoIterator<Item = Reason>) -> Readiness {
    let readiness = |reason| match reason {
        Reason::NeedsAuth | Reason::Untested | Reason::ToolChanged => Readiness::NeedsAttention,
        Reason::Missing
        | Reason::Disabled
        | Reason::Untrusted
        | Reason::Failed
        | Reason::Undiscovered
        | Reason::NotListed
        | Reason::NotAllowed => Readiness::Blocked,
    };
    let all = reasons.into_iter().map(readiness);
    all.max_by_key(|found| rank(*found)).unwrap_or(Readiness::Ready)
}

/// The worst of several servers.
pub(super) fn of_all(dependencies: &[Dependency]) -> Readiness {
    let all = dependencies.iter().map(|dependency| dependency.readiness);
    all.max_by_key(|found| rank(*found)).unwrap_or(Readiness::Ready)
}

const fn rank(readiness: Readiness) -> u8 {
    match readiness {
        Readiness::Ready => 0,
        Readiness::NeedsAttention => 1,
        Readiness::Blocked => 2,
    }
}

fn about(reason: Reason, tool: Option<&Arc<str>>) -> NotReady {
    let detail = match reason {
        Reason::Missing => "connect a server from this preset",
        Reason::Disabled => "switch the connection on",
        Reason::Untrusted => "say that the server is trusted, if it is",
        Reason::Failed => "test the connection and see what its health says",
        Reason::Undiscovered => "test the connection, so that its tools are known",
        Reason::NotListed => {
            "the server does not list this tool; refresh the connection, or change the skill"
        }
        Reason::NotAllowed => "add the tool to those the connection offers",
        Reason::NeedsAuth => "sign in, or give the credential, before the skill is used",
        Reason::Untested => "test the connection before the skill is used",
        Reason::ToolChanged => "look at the tool's changed definition before the skill is used",
    };
    NotReady {
        reason,
        tool: tool.map(ToString::to_string),
        detail: detail.to_owned(),
    }
}
