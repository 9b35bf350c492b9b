//! Why a connection cannot be used, for people and as a health code.

use std::sync::Arc;
use std::time::Duration;

use domain::{Health, OutcomeCode};
use mcp::egress::EgressRefusal;
use mcp::{ConnectError, RequestError, TokenError};
use store::StoreError;

use crate::schema::SchemaProblem;

/// Why a connection cannot be used. Texts hold no secret of ours; they may quote the server, cut short.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConnectionError {
    /// No such connection in this workspace.
    #[error("the connection does not exist")]
    NotFound,
    /// Its command is not in the operator's configuration.
    #[error(
        "the command {name:?} is not in the operator's configuration; add it there and reload, or remove the connection"
    )]
    NotConfigured {
        /// The name it had.
        name: Arc<str>,
    },
    /// A secret it needs is not in the vault.
    #[error("no {what} is stored for this connection; set it")]
    SecretMissing {
        /// Which secret.
        what: String,
    },
    /// Its settings cannot be used as they are.
    #[error("the settings cannot be used: {reason}")]
    Settings {
        /// What is wrong with them.
        reason: String,
    },
    /// The egress guard refuses its URL.
    #[error(transparent)]
    Egress(#[from] EgressRefusal),
    /// The server cannot be reached or spoken with.
    #[error(transparent)]
    Connect(Arc<ConnectError>),
    /// Its command ends before it is ready.
    #[error("the command failed: {0}")]
    Process(Arc<ConnectError>),
    /// The server does not say what it offers.
    #[error("what the server offers cannot be listed: {0}")]
    Discovery(Arc<RequestError>),
    /// The server takes too long to say what it offers.
    #[error("listing what the server offers took longer than {0:?}")]
    DiscoveryTimeout(Duration),
    /// Its command ended too often too soon.
    #[error(
        "the command ended {times} times in a row soon after it was started; it is started again in {wait:?} at the earliest"
    )]
    Resting {
        /// How often.
        times: u32,
        /// How long it is left alone.
        wait: Duration,
    },
    /// It was not ready when the time of whoever asked was up.
    #[error("the server was not ready before the deadline of the call")]
    Late,
    /// All processes it may have are in use.
    #[error("all {limit} processes of this connection are in use; try again later")]
    Busy {
        /// How many there may be.
        limit: usize,
    },
    /// It was removed, changed or shut down meanwhile.
    #[error("the connection was removed, changed or shut down meanwhile")]
    Stopped,
    /// It has no such tool.
    #[error("the server never listed a tool of this name")]
    UnknownTool,
    /// It has no such skill.
    #[error("the server has no skill of this URI")]
    UnknownSkill,
    /// The tool says something else than what was looked at.
    #[error("the definition is not the one that was looked at; look at it again")]
    DefinitionMoved,
    /// The tool's schema cannot be compiled, so that it cannot be accepted.
    #[error(transparent)]
    Unusable(#[from] SchemaProblem),
    /// The database failed.
    #[error(transparent)]
    Store(Arc<StoreError>),
}

impl From<StoreError> for ConnectionError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { .. } => Self::NotFound,
            error => Self::Store(Arc::new(error)),
        }
    }
}

impl ConnectionError {
    /// The health it stands for; none where it says nothing about the server.
    #[must_use]
    pub fn health(&self) -> Option<Health> {
        match self {
            Self::NotConfigured { .. } => Some(Health::NotConfigured),
            Self::SecretMissing { .. } => Some(Health::AuthRejected),
            Self::Settings { .. } => Some(Health::Unreachable),
            Self::Egress(_) => Some(Health::EgressRefused),
            Self::Connect(error) => Some(connect_health(error)),
            Self::Process(_) => Some(Health::ProcessFailed),
            Self::Discovery(error) => Some(request_health(error)),
            Self::DiscoveryTimeout(_) | Self::Late => Some(Health::Timeout),
            Self::Resting { .. } => Some(Health::ProcessFailed),
            Self::NotFound
            | Self::Busy { .. }
            | Self::Stopped
            | Self::UnknownTool
            | Self::UnknownSkill
            | Self::DefinitionMoved
            | Self::Unusable(_)
            | Self::Store(_) => None,
        }
    }

    /// Whether trying again by itself is of use; else a person must do something first.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Self::Connect(_) | Self::Discovery(_) => !matches!(
                self.health(),
                Some(
                    Health::AuthRejected
                        | Health::SignInRequired
                        | Health::EgressRefused
                        | Health::Protocol
                        | Health::NotConfigured
                )
            ),
            Self::Process(_)
            | Self::DiscoveryTimeout(_)
            | Self::Late
            | Self::Resting { .. }
            | Self::Busy { .. }
            | Self::Store(_) => true,
            Self::NotFound
            | Self::NotConfigured { .. }
            | Self::SecretMissing { .. }
            | Self::Settings { .. }
            | Self::Egress(_)
            | Self::Stopped
            | Self::UnknownTool
            | Self::UnknownSkill
            | Self::DefinitionMoved
            | Self::Unusable(_) => false,
        }
    }

    /// The outcome of a call that could not be sent because of it.
    pub(crate) fn outcome(&self) -> OutcomeCode {
        match self.health() {
            Some(Health::AuthRejected | Health::SignInRequired) => OutcomeCode::AuthRejected,
            Some(Health::RateLimited) => OutcomeCode::RateLimited,
            Some(
                Health::Ok
                | Health::Unchecked
                | Health::Degraded
                | Health::Unreachable
                | Health::Timeout
                | Health::Protocol
                | Health::EgressRefused
                | Health::ProcessFailed
                | Health::NotConfigured,
            ) => OutcomeCode::Unreachable,
            None => match self {
                Self::Store(_) => OutcomeCode::Internal,
                _ => OutcomeCode::Unreachable,
            },
        }
    }
}

fn connect_health(error: &ConnectError) -> Health {
    match error {
        ConnectError::Target(_) => Health::Unreachable,
        ConnectError::Spawn { .. } => Health::ProcessFailed,
        ConnectError::Closed { .. } => Health::Unreachable,
        ConnectError::Timeout(_) => Health::Timeout,
        ConnectError::Version { .. } => Health::Protocol,
        ConnectError::Refused(error) => request_health(error),
    }
}

/// What a failed request says about the server's health.
pub(crate) fn request_health(error: &RequestError) -> Health {
    match error.http_status() {
        Some(401 | 403) => return Health::AuthRejected,
        Some(429) => return Health::RateLimited,
        Some(500..=599) => return Health::Unreachable,
        Some(_) | None => {}
    }
    match error {
        RequestError::NoToken(TokenError::SignIn(_)) => Health::SignInRequired,
        RequestError::NoToken(TokenError::Later(_)) => Health::Degraded,
        RequestError::Timeout { .. } => Health::Timeout,
        RequestError::Closed { .. } | RequestError::Unreachable(_) => Health::Unreachable,
        RequestError::Egress(_) | RequestError::Redirect { .. } => Health::EgressRefused,
        RequestError::Rpc { .. }
        | RequestError::Http { .. }
        | RequestError::SessionExpired
        | RequestError::TooLarge { .. }
        | RequestError::Malformed(_)
        | RequestError::Unsendable(_) => Health::Protocol,
    }
}
