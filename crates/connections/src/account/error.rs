//! Why a sign-in does not go on, and what a person can do about it.

use mcp::egress::EgressRefusal;
use mcp::oauth::OAuthError;
use store::StoreError;

use crate::ConnectionError;

/// Why a sign-in does not go on. Texts hold no secret; they may quote the authorization server, cut short.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The account of the connection is not one people sign in to.
    #[error(
        "the account of this connection is not one a person signs in to; set auth to {{\"type\": \"oauth\"}}"
    )]
    NotOauth,
    /// Nothing signs what goes through the browser.
    #[error(
        "nobody can sign in, because nothing signs what comes back with the browser; set MCP_OAUTH_STATE_SIGNING_SECRET, to the same text for all replicas"
    )]
    NoStateKey,
    /// No sign-in waits for this answer.
    #[error(
        "no sign-in waits for this answer: it is over, was called off, or was begun in another browser; begin again"
    )]
    Gone,
    /// The connection was changed meanwhile.
    #[error("the connection was changed during the sign-in; begin again")]
    Changed,
    /// The server of the connection.
    #[error(transparent)]
    Connection(ConnectionError),
    /// An address the authorization server names may not be reached.
    #[error(transparent)]
    Egress(EgressRefusal),
    /// The authorization server, or what was found of it.
    #[error("{}", advice(.0))]
    OAuth(#[from] OAuthError),
    /// Tokens that live too short to work with.
    #[error("the token lives {0} seconds; tokens must live longer than 150")]
    ShortLived(u64),
    /// Tokens of which nobody knows how long they live.
    #[error(
        "the authorization server does not say how long its token lives; set unreported_lifetime if it does not lapse"
    )]
    UnreportedLifetime,
    /// The database.
    #[error(transparent)]
    Store(StoreError),
}

/// What to do about the authorization server's error.
fn advice(error: &OAuthError) -> String {
    let advice = match error {
        OAuthError::Refused { .. } => match code_of(error) {
            "redirect_mismatch" => "; register the callback shown with the connection there, to the letter",
            "not_a_test_user" => "; add this account to the test users of the app there, or publish the app",
            "consent_denied" => "; begin again and consent, or ask for fewer scopes",
            "client_refused" => "; the client ID or its secret is not the one registered there",
            _ => "",
        },
        _ => "",
    };
    format!("{error}{advice}")
}

/// The stable code of an authorization server's error, told apart by what people can do about it.
fn code_of(error: &OAuthError) -> &'static str {
    let OAuthError::Refused {
        code, description, ..
    } = error
    else {
        return error.code();
    };
    let text = description.as_deref().unwrap_or_default().to_ascii_lowercase();
    match code.as_str() {
        "redirect_uri_mismatch" => "redirect_mismatch",
        _ if text.contains("redirect_uri") || text.contains("redirect uri") => "redirect_mismatch",
        "org_internal" | "admin_policy_enforced" => "not_a_test_user",
        "access_denied" if text.contains("test user") || text.contains("verif") => "not_a_test_user",
        "access_denied" | "consent_required" | "interaction_required" | "login_required" => "consent_denied",
        "invalid_client" | "unauthorized_client" => "client_refused",
        "invalid_scope" => "scope_refused",
        _ => "authorization_refused",
    }
}

impl SignInError {
    /// A stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotOauth => "not_oauth",
            Self::NoStateKey => "state_key_missing",
            Self::Gone => "authorization_gone",
            Self::Changed => "connection_changed",
            Self::Connection(_) => "server_unusable",
            Self::Egress(_) => "url_refused",
            Self::OAuth(OAuthError::ClientRequired) => "client_configuration_required",
            Self::OAuth(OAuthError::IssuerRequired { .. }) => "issuer_required",
            Self::OAuth(error @ OAuthError::Refused { .. }) => code_of(error),
            Self::OAuth(error) => error.code().strip_prefix("oauth.").unwrap_or_default(),
            Self::ShortLived(_) => "token_lifetime_too_short",
            Self::UnreportedLifetime => "token_lifetime_unreported",
            Self::Store(_) => "store",
        }
    }

    /// Whether a person, or the authorization server for one, said no.
    #[must_use]
    pub fn is_denial(&self) -> bool {
        matches!(self.code(), "consent_denied" | "not_a_test_user")
    }
}

impl From<StoreError> for SignInError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what: "connection" } => Self::Connection(ConnectionError::NotFound),
            StoreError::NotFound { .. } => Self::Gone,
            error => Self::Store(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp::oauth::OAuthError;

    use super::SignInError;

    /// V185: what people can do something about is told apart.
    #[test]
    fn refusals_are_told_apart() {
        let cases = [
            ("access_denied", "", "consent_denied", "consent"),
            (
                "access_denied",
                "App has not completed the Google verification process",
                "not_a_test_user",
                "test users",
            ),
            ("org_internal", "", "not_a_test_user", "test users"),
            ("redirect_uri_mismatch", "", "redirect_mismatch", "callback"),
            (
                "invalid_request",
                "redirect_uri did not match any registered",
                "redirect_mismatch",
                "callback",
            ),
            ("invalid_client", "", "client_refused", "client ID"),
            ("invalid_scope", "", "scope_refused", "invalid_scope"),
            ("server_error", "", "authorization_refused", "server_error"),
        ];
        for (code, description, expected, advice) in cases {
            let error = SignInError::from(OAuthError::Refused {
                code: code.to_owned(),
                description: (!description.is_empty()).then(|| description.to_owned()),
                status: 0,
            });
            assert_eq!(error.code(), expected, "{code} {description}");
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
}
