//! What can go wrong on the way to a token, each with what a person can do about it.

use std::time::Duration;

use crate::http::HttpError;

/// Why a step of signing in failed. Messages name hosts, codes and documents, never a token, a code or a secret.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// No random numbers.
    #[error("no random numbers from the operating system")]
    NoRandom,
    /// An address could not be asked.
    #[error("asking {what}: {source}")]
    Http {
        /// Which document or endpoint.
        what: &'static str,
        /// Why.
        source: HttpError,
    },
    /// An answer that is no OAuth answer.
    #[error("{what} answered with status {status}")]
    Status {
        /// Which document or endpoint.
        what: &'static str,
        /// The status.
        status: u16,
        /// How long to wait before asking again, where it says so.
        retry_after: Option<Duration>,
    },
    /// A document that cannot be read.
    #[error("{what} is not what the standard describes: {why}")]
    Malformed {
        /// Which document or answer.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The server says that its metadata is about something else.
    #[error("the server's metadata is for {found}, which does not cover the address that is connected")]
    OtherResource {
        /// The resource it is about.
        found: String,
    },
    /// The metadata belongs to another issuer (RFC 8414 section 3.3).
    #[error(
        "the metadata found for the issuer {expected} says it is {found}; an answer of the one cannot be trusted for the other"
    )]
    OtherIssuer {
        /// The issuer that was asked for.
        expected: String,
        /// The one the document names.
        found: String,
    },
    /// Nothing says where to sign in.
    #[error(
        "the server does not say where to sign in: it has neither protected-resource metadata nor authorization-server metadata"
    )]
    NotFound,
    /// There are several authorization servers.
    #[error("the server can be signed in to at {}; say which issuer to use", issuers.join(", "))]
    IssuerRequired {
        /// Their issuers.
        issuers: Vec<String>,
    },
    /// The chosen issuer is not one of the server's.
    #[error("{issuer} is not an issuer the server names: {}", issuers.join(", "))]
    IssuerUnknown {
        /// What was chosen.
        issuer: String,
        /// What there is.
        issuers: Vec<String>,
    },
    /// The authorization server does not promise what every flow needs.
    #[error("the authorization server does not support {what}, without which nobody is signed in")]
    Unsupported {
        /// What it lacks.
        what: &'static str,
    },
    /// No client, and no way to become one.
    #[error(
        "the authorization server registers no clients; register one with it by hand and give its client ID"
    )]
    ClientRequired,
    /// A way to authenticate that the authorization server does not take.
    #[error("the authorization server does not take the client authentication `{method}`")]
    ClientAuth {
        /// The method's name.
        method: &'static str,
    },
    /// A key that cannot sign.
    #[error("the private key cannot be used: {why}")]
    Key {
        /// What is wrong with it.
        why: String,
    },
    /// The answer in the browser belongs to another sign-in, or lacks what shows that it belongs to this one.
    #[error("the answer does not belong to this sign-in: {why}")]
    Mixed {
        /// What does not fit.
        why: &'static str,
    },
    /// The authorization server, or the person at it, said no.
    #[error("the authorization server refused: {code}{}", description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
    Refused {
        /// Its code (RFC 6749 sections 4.1.2.1 and 5.2, RFC 7591 section 3.2.2).
        code: String,
        /// Its words, on one line and cut.
        description: Option<String>,
        /// The HTTP status it came with; 0 where it came through a browser.
        status: u16,
    },
}

impl OAuthError {
    /// A stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRandom => "oauth.no_random",
            Self::Http { .. } => "oauth.unreachable",
            Self::Status { .. } => "oauth.status",
            Self::Malformed { .. } => "oauth.malformed",
            Self::OtherResource { .. } => "oauth.other_resource",
            Self::OtherIssuer { .. } => "oauth.other_issuer",
            Self::NotFound => "oauth.not_found",
            Self::IssuerRequired { .. } => "oauth.issuer_required",
            Self::IssuerUnknown { .. } => "oauth.issuer_unknown",
            Self::Unsupported { .. } => "oauth.unsupported",
            Self::ClientRequired => "oauth.client_required",
            Self::ClientAuth { .. } => "oauth.client_auth",
            Self::Key { .. } => "oauth.key",
            Self::Mixed { .. } => "oauth.mixed",
            Self::Refused { .. } => "oauth.refused",
        }
    }

    /// Whether the grant is gone for good, so that only a person can help: another attempt to refresh would be refused too. Some
    /// servers say `invalid_request` of a refresh token they no longer know.
    #[must_use]
    pub fn grant_is_gone(&self) -> bool {
        match self {
            Self::Refused {
                code, description, ..
            } => match code.as_str() {
                "invalid_grant" | "access_denied" | "unauthorized_client" | "invalid_client" => true,
                "invalid_request" => description
                    .as_deref()
                    .is_some_and(|text| text.to_ascii_lowercase().contains("refresh")),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the authorization server can have acted on what it was sent, although no token came back: a rotated refresh token may
    /// be spent then.
    #[must_use]
    pub fn may_have_acted(&self) -> bool {
        match self {
            Self::Http { source, .. } => source.sent(),
            Self::Status { status, .. } => *status >= 500,
            Self::Malformed { .. } => true,
            _ => false,
        }
    }
}
