//! Signing in to servers: finding their authorization server, becoming its client, and getting tokens.
//!
//! The steps are separate, because between them a person goes through a browser, and another process may go on where one began. What
//! each step learns is plain data to be kept by the caller, secrets as [`Secret`](domain::Secret). Nothing here is kept or retried.
//!
//! Sources: MCP 2026-07-28 "Authorization", RFC 6749, 7523, 7591, 7636, 8414, 8707, 9207, 9728, and the OAuth client ID metadata
//! document draft.

mod assertion;
mod authorize;
mod challenge;
mod client;
mod discover;
mod documents;
mod error;
mod exchange;
mod token;

use domain::Secret;

pub use self::assertion::SigningKey;
pub use self::authorize::{Answer, AuthorizationRequest, Pkce, Waiting};
pub use self::challenge::Challenge;
pub use self::client::{Choice, Client, ClientAuth, Registration};
pub use self::discover::{Discovered, Discovery};
pub use self::documents::{ProtectedResource, ServerMetadata};
pub use self::error::OAuthError;
pub use self::token::{Grant, TokenRequest, Tokens};

/// Random text that nobody guesses: 256 bits, as 43 characters that need no escaping.
///
/// # Errors
/// When the operating system gives no random numbers.
pub fn unguessable() -> Result<Secret, OAuthError> {
    use base64::Engine as _;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| OAuthError::NoRandom)?;
    Ok(Secret::new(
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes),
    ))
}
