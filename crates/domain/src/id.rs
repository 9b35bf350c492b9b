//! Identifiers: UUID v7 in newtypes, so that one kind cannot stand for another.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// Text that is not an identifier of the expected kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {kind} id: expected a UUID")]
pub struct ParseIdError {
    /// Which kind of identifier was expected.
    pub kind: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $kind:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// A new identifier that sorts after earlier ones of the same clock.
            #[must_use]
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }

            /// The identifier with this value.
            #[must_use]
            pub const fn from_uuid(value: Uuid) -> Self {
                Self(value)
            }

            /// The value.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($kind, ":{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self).map_err(|_| ParseIdError { kind: $kind })
            }
        }
    )*};
}

ids! {
    /// A tenant.
    OrganizationId = "organization";
    /// A room of an organization.
    WorkspaceId = "workspace";
    /// An identity that uses tools.
    AgentId = "agent";
    /// A person in an organization.
    MemberId = "member";
    /// An invitation of a person.
    InvitationId = "invitation";
    /// A browser somebody signed in with.
    SessionId = "session";
    /// An API key.
    KeyId = "key";
    /// An MCP client that registered itself with us.
    ClientId = "client";
    /// What a person allowed an MCP client: to act as one agent.
    ConsentId = "consent";
    /// A token of an MCP client.
    TokenId = "token";
    /// A configured MCP server.
    ConnectionId = "connection";
    /// One tool invocation.
    CallId = "call";
    /// A unit of agent work.
    RunId = "run";
    /// A question to a person about exactly one call.
    ApprovalId = "approval";
    /// A sign-in at an authorization server.
    AuthorizationId = "authorization";
    /// A telephone call.
    PhoneCallId = "phone call";
    /// A record of the vault.
    SecretId = "secret";
    /// A skill of a workspace.
    SkillId = "skill";
}
