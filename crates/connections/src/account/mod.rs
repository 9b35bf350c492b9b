//! Accounts with tokens: people sign in once, and tokens are renewed before they lapse, by one process for all.

mod error;
mod give_back;
mod options;
mod party;
mod renew;
mod sign_in;
mod source;
mod state;
mod step_up;

pub use self::error::SignInError;
pub use self::options::SignInOptions;
pub use self::sign_in::{Opened, SignedIn};
pub(crate) use self::source::{Source, Tokens};

/// Whether a private key (PEM) can sign with an algorithm.
///
/// # Errors
/// Why not.
pub fn check_signing_key(pem: &domain::Secret, algorithm: &str) -> Result<(), String> {
    let read = mcp::oauth::SigningKey::from_pem(pem, algorithm, None);
    read.map(drop).map_err(|error| error.to_string())
}

/// The field of a client's secret in the vault, where a person gave it.
pub(crate) const CLIENT_SECRET: &str = "oauth:client_secret";
/// The field of a client's private key in the vault.
pub(crate) const PRIVATE_KEY: &str = "oauth:private_key";
