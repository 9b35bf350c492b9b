//! How we prove ourselves to a server, and how a sign-in at one stands. No secret is in any of it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::risk::words;
use crate::{AuthorizationId, ConnectionId, Timestamp};

/// How we prove ourselves to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountKind {
    /// Not at all.
    None,
    /// `Authorization: Bearer`.
    Bearer,
    /// A header of the server's choosing.
    Header,
    /// An account a person signs in to (OAuth 2.1 authorization code with PKCE).
    Oauth,
    /// The client's own account, proven with a client secret (OAuth 2.1 client credentials).
    ClientCredentials,
    /// The client's own account, proven with a signature (RFC 7523).
    PrivateKeyJwt,
}

words!(
    AccountKind,
    "account kind",
    None = "none",
    Bearer = "bearer",
    Header = "header",
    Oauth = "oauth",
    ClientCredentials = "client_credentials",
    PrivateKeyJwt = "private_key_jwt"
);

impl AccountKind {
    /// Whether its credential is a token that an authorization server gives for a while.
    #[must_use]
    pub const fn has_tokens(self) -> bool {
        match self {
            Self::Oauth | Self::ClientCredentials | Self::PrivateKeyJwt => true,
            Self::None | Self::Bearer | Self::Header => false,
        }
    }
}

/// How a client authenticates at the token endpoint (RFC 7591 section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientMethod {
    /// Not at all.
    None,
    /// With its secret in the header.
    SecretBasic,
    /// With its secret in the body.
    SecretPost,
    /// With a signature.
    PrivateKeyJwt,
}

words!(
    ClientMethod,
    "token endpoint authentication method",
    None = "none",
    SecretBasic = "client_secret_basic",
    SecretPost = "client_secret_post",
    PrivateKeyJwt = "private_key_jwt"
);

/// How a person is asked to consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignInProfile {
    /// As the authorization server does by itself.
    Standard,
    /// Every time anew: some give a refresh token only then.
    OfflineConsent,
}

words!(
    SignInProfile,
    "sign-in profile",
    Standard = "standard",
    OfflineConsent = "offline_consent"
);

/// What a person said about an account with tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthSettings {
    /// Which authorization server, where the server offers several.
    pub issuer: Option<Arc<str>>,
    /// Scopes; none leaves the choice to what the server asks for.
    pub scopes: Option<Vec<Arc<str>>>,
    /// The ID of a client that was registered by hand.
    pub client_id: Option<Arc<str>>,
    /// How that client authenticates.
    pub method: ClientMethod,
    /// How a person is asked.
    pub profile: SignInProfile,
    /// For a signature: its algorithm, and the name the authorization server knows the key by.
    pub signing: Option<(Arc<str>, Option<Arc<str>>)>,
    /// Whether tokens are taken although the authorization server does not say how long they live.
    pub unreported_lifetime: bool,
}

/// The account, without its secret (which is in the vault).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// How.
    pub kind: AccountKind,
    /// For a header: its name.
    pub header_name: Option<Arc<str>>,
    /// For a header: what stands before the secret.
    pub value_prefix: Option<Arc<str>>,
    /// For tokens: what a person said.
    pub oauth: Option<Arc<OauthSettings>>,
    /// Whether a secret is stored, or, with a sign-in, whether an account was connected.
    pub configured: bool,
}

impl Account {
    /// No account.
    pub const NONE: Self = Self {
        kind: AccountKind::None,
        header_name: None,
        value_prefix: None,
        oauth: None,
        configured: false,
    };
}

/// How an account with tokens stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountStatus {
    /// Nobody signed in yet, or the account was disconnected.
    NotConnected,
    /// A sign-in is under way.
    SetupPending,
    /// The authorization server knows no client of ours, and none can be registered.
    ClientConfigurationRequired,
    /// There is a token, or a way to the next one.
    Connected,
    /// The token lapsed, and there is no way to another.
    Expired,
    /// The authorization server takes back what it gave: a person must sign in again.
    ReauthorizationRequired,
    /// The last attempt failed for another reason.
    Error,
}

words!(
    AccountStatus,
    "account status",
    NotConnected = "not_connected",
    SetupPending = "setup_pending",
    ClientConfigurationRequired = "client_configuration_required",
    Connected = "connected",
    Expired = "expired",
    ReauthorizationRequired = "reauthorization_required",
    Error = "error"
);

/// How an account with tokens stands, in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountState {
    /// Whose.
    pub connection: ConnectionId,
    /// How it stands.
    pub status: AccountStatus,
    /// Grows with every token: who refreshes names the one that was replaced.
    pub generation: u64,
    /// Grows whenever somebody signs in or is signed out: another number may be another account.
    pub sign_ins: u64,
    /// When the access token lapses; none where that is not known or there is none.
    pub expires_at: Option<Timestamp>,
    /// Whether the next token can be had without a person.
    pub refreshable: bool,
    /// The scopes that were asked for.
    pub requested: Vec<String>,
    /// The scopes that were given.
    pub granted: Vec<String>,
    /// Why it does not work: a stable code.
    pub error_code: Option<String>,
    /// The same in a sentence, without secrets.
    pub error_detail: Option<String>,
    /// Who gave the tokens, for what, to which client; none before the first sign-in.
    pub party: Option<Party>,
}

/// The authorization server and the client of it, as a sign-in found and chose them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    /// The value of `resource` in every request for a token (RFC 8707).
    pub resource: String,
    /// The authorization server's metadata, as far as it is used, as JSON.
    pub server: Arc<str>,
    /// Its issuer, to the letter. Client and tokens are of use nowhere else.
    pub issuer: String,
    /// The client's ID.
    pub client_id: String,
    /// How the client authenticates.
    pub method: ClientMethod,
}

/// How a sign-in stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuthorizationStatus {
    /// A person has not been through it yet.
    Pending,
    /// Done.
    Completed,
    /// The person, or the authorization server, said no.
    Denied,
    /// It failed for another reason.
    Failed,
    /// It was called off, or the connection was changed meanwhile.
    Cancelled,
    /// Its time was over.
    Expired,
}

words!(
    AuthorizationStatus,
    "authorization status",
    Pending = "pending",
    Completed = "completed",
    Denied = "denied",
    Failed = "failed",
    Cancelled = "cancelled",
    Expired = "expired"
);

/// A sign-in that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// Its id.
    pub id: AuthorizationId,
    /// For which connection.
    pub connection: ConnectionId,
    /// How it stands.
    pub status: AuthorizationStatus,
    /// The version of the connection it was begun with; an edit calls it off.
    pub version: u32,
    /// When its time is over.
    pub expires_at: Timestamp,
    /// The scopes that are asked for.
    pub requested: Vec<String>,
    /// Why it did not succeed: a stable code.
    pub error_code: Option<String>,
    /// The same in a sentence.
    pub error_detail: Option<String>,
    /// Whom the person is sent to, as which client.
    pub party: Party,
    /// When it was begun.
    pub created_at: Timestamp,
}
