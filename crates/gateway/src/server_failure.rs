//! What went wrong at a server or on the way to its account, as an administrator sees it.

use connections::{ConnectionError, SignInError};
use store::StoreError;

use crate::{Failure, FailureKind};

/// The fields a person sets to go on.
const CLIENT_ID: &str = "auth.client_id";
const ISSUER: &str = "auth.issuer";

impl From<&ConnectionError> for Failure {
    fn from(error: &ConnectionError) -> Self {
        let new = |kind, code| Self::new(kind, code, error.to_string());
        match error {
            ConnectionError::NotFound => Self::not_found("connection"),
            ConnectionError::UnknownTool => Self::not_found("tool").at("tool"),
            ConnectionError::UnknownSkill => Self::not_found("skill").at("skill_uri"),
            ConnectionError::Egress(_) => new(FailureKind::Invalid, "connection.url_refused").at("url"),
            ConnectionError::DefinitionMoved => {
                new(FailureKind::Conflict, "connection.definition_moved").at("digest")
            }
            ConnectionError::Unusable(_) => {
                new(FailureKind::Invalid, "connection.schema_unusable").at("tool")
            }
            ConnectionError::Settings { .. } => new(FailureKind::Invalid, "connection.settings"),
            ConnectionError::Busy { .. } | ConnectionError::Stopped | ConnectionError::Store(_) => {
                new(FailureKind::Unavailable, "connection.unavailable")
            }
            ConnectionError::NotConfigured { .. }
            | ConnectionError::SecretMissing { .. }
            | ConnectionError::Connect(_)
            | ConnectionError::Discovery(_)
            | ConnectionError::DiscoveryTimeout(_)
            | ConnectionError::Process(_)
            | ConnectionError::Late
            | ConnectionError::Resting { .. } => new(FailureKind::Upstream, "connection.unusable"),
        }
    }
}

impl From<SignInError> for Failure {
    fn from(error: SignInError) -> Self {
        let detail = error.to_string();
        let new = |kind, code| Self::new(kind, code, detail.clone());
        match error {
            SignInError::Store(error @ StoreError::Version { .. }) => error.into(),
            SignInError::Store(error) => Self::internal("the sign-in could not be stored", error),
            SignInError::Connection(error) => Self::from(&error),
            SignInError::NotOauth => new(FailureKind::Conflict, "authorization.not_oauth").at("connection"),
            SignInError::NoStateKey => new(FailureKind::Unavailable, "authorization.not_configured"),
            SignInError::Gone => new(FailureKind::NotFound, "authorization.gone").at("authorization"),
            SignInError::Changed => new(FailureKind::Conflict, "authorization.connection_changed"),
            SignInError::Egress(_) => new(FailureKind::Invalid, "connection.url_refused").at("url"),
            error if error.code() == "client_configuration_required" => {
                new(FailureKind::Conflict, "authorization.client_required").at(CLIENT_ID)
            }
            error if error.code() == "issuer_required" => {
                new(FailureKind::Conflict, "authorization.issuer_required").at(ISSUER)
            }
            error if error.is_denial() => new(FailureKind::Forbidden, "authorization.denied"),
            SignInError::OAuth(_) | SignInError::ShortLived(_) | SignInError::UnreportedLifetime => {
                new(FailureKind::Upstream, "authorization.refused")
            }
        }
    }
}
