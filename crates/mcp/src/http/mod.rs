//! The HTTP client of the outbound protocol: pooled, bounded in time and size, and behind the egress guard.
//!
//! It follows no redirect, honours no proxy environment, asks for no compression, and says of every failure whether
//! anything can have reached the server.

mod client;
mod connector;
mod dial;
mod error;
mod leftovers;
mod limits;
mod outgoing;
mod response;
mod tls;

pub use rustls::pki_types::CertificateDer;

pub use self::client::HttpClient;
pub use self::error::{ConnectStep, HttpError, Part, Phase};
pub use self::limits::{HttpLimits, HttpOptions};
pub use self::response::{Content, HttpResponse};

pub(crate) use self::leftovers::Leftovers;
