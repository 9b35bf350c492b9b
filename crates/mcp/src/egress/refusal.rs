//! Why the egress guard says no, in words a person can act on.

use std::net::IpAddr;

use super::AddressClass;

/// A refusal of the egress guard. Nothing was sent. Messages name hosts and addresses, never paths or queries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EgressRefusal {
    /// Not a URL at all, or one that parsers repair in different ways.
    #[error("not a usable URL: {reason}; give an absolute URL such as https://example.com/mcp")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// A scheme other than `https` (or `http` for a registered URL).
    #[error("scheme {scheme} is not allowed; use https, or ask the operator to register this exact URL")]
    Scheme {
        /// The scheme found.
        scheme: String,
    },
    /// `user:password@` in the URL.
    #[error("the URL carries a user name or password; configure credentials separately")]
    UserInfo,
    /// A `#fragment` in the URL.
    #[error("the URL has a fragment; remove the part from # on")]
    Fragment,
    /// No host.
    #[error("the URL has no host; give an absolute URL such as https://example.com/mcp")]
    NoHost,
    /// Port 0.
    #[error("port 0 cannot be connected to; use the server's real port")]
    Port,
    /// A host name ending in a dot, which defeats comparison of names.
    #[error("host {host} ends in a dot; remove it")]
    TrailingDot {
        /// The host found.
        host: String,
    },
    /// `localhost` or a name below it.
    #[error("host {host} is this machine; only an operator can register it, as an exact URL")]
    Localhost {
        /// The host found.
        host: String,
    },
    /// The host is, or resolves to, an address that is not public.
    #[error(
        "host {host} has the address {address} ({class}), which is not public; only an operator can register it"
    )]
    Address {
        /// The host asked for.
        host: String,
        /// The offending address; one is enough, however many others are public.
        address: IpAddr,
        /// What kind of address it is.
        class: AddressClass,
    },
    /// The host does not resolve (registration only; at connect it is a connect error).
    #[error("host {host} does not resolve; check the spelling and the name server")]
    Unresolved {
        /// The host asked for.
        host: String,
    },
    /// A server named an endpoint outside its own origin.
    #[error(
        "the server named an endpoint on another origin ({host}); endpoints must share scheme, host and port with the server"
    )]
    ForeignOrigin {
        /// The host of the endpoint.
        host: String,
    },
}

impl EgressRefusal {
    /// A stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "egress.invalid_url",
            Self::Scheme { .. } => "egress.scheme",
            Self::UserInfo => "egress.user_info",
            Self::Fragment => "egress.fragment",
            Self::NoHost => "egress.no_host",
            Self::Port => "egress.port",
            Self::TrailingDot { .. } => "egress.trailing_dot",
            Self::Localhost { .. } => "egress.localhost",
            Self::Address { .. } => "egress.address",
            Self::Unresolved { .. } => "egress.unresolved",
            Self::ForeignOrigin { .. } => "egress.foreign_origin",
        }
    }
}
