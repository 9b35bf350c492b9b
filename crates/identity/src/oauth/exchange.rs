//! Codes and refresh tokens become tokens.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{Secret, Timestamp, TokenId, TokenKind};
use sha2::{Digest as _, Sha256};
use store::{Change, Exchanged, HeldToken, NewToken};
use subtle::ConstantTimeEq as _;

use super::server::AuthorizationServer;
use super::{Parameters, Refusal};
use crate::IdentityError;
use crate::opaque::Opaque;

/// How long a code may be exchanged.
const CODE_FOR: Duration = Duration::from_secs(60);

/// Tokens that a client is given.
#[derive(Debug)]
pub struct Issued {
    /// To be sent with requests.
    pub access: Secret,
    /// How long that is good, in seconds.
    pub expires_in: u64,
    /// To be exchanged for the next ones, once.
    pub refresh: Secret,
}

/// A new code for a consent: its text, and what is stored of it.
///
/// # Errors
/// When the operating system gives no random numbers.
pub fn new_code(now: Timestamp) -> Result<(Secret, NewToken), IdentityError> {
    new(TokenKind::Code, now.plus(CODE_FOR))
}

fn new(kind: TokenKind, expires_at: Timestamp) -> Result<(Secret, NewToken), IdentityError> {
    let id = TokenId::generate();
    let word = match kind {
        TokenKind::Access => "token",
        TokenKind::Code | TokenKind::Refresh => kind.as_str(),
    };
    let (text, hash) = Opaque::generate(word, id.uuid()).map_err(|_| IdentityError::NoRandom)?;
    let token = NewToken { id, hash, expires_at };
    Ok((text, token))
}

impl AuthorizationServer {
    /// Answers a request for tokens (RFC 6749 sections 4.1.3 and 6).
    ///
    /// # Errors
    /// In the words of RFC 6749 section 5.2.
    pub async fn exchange(&self, parameters: &Parameters) -> Result<Issued, Refusal> {
        let kind = match parameters.needed("grant_type")? {
            "authorization_code" => TokenKind::Code,
            "refresh_token" => TokenKind::Refresh,
            _ => {
                let detail = "`grant_type` must be `authorization_code` or `refresh_token`";
                return Err(Refusal::new("unsupported_grant_type", detail));
            }
        };
        let client = parameters.needed("client_id")?;
        let text = match kind {
            TokenKind::Code => parameters.needed("code")?,
            TokenKind::Access | TokenKind::Refresh => parameters.needed("refresh_token")?,
        };
        let held = self.held(kind, text).await?.ok_or_else(Refusal::grant)?;
        if *held.consent.client != *client || held.expires_at <= self.now() {
            return Err(Refusal::grant());
        }
        if kind == TokenKind::Code {
            proven(&held, parameters)?;
        }
        if let Some(resource) = parameters.one("resource")?
            && self.resources().path(resource).as_deref() != Some(&*held.consent.resource)
        {
            return Err(Refusal::target());
        }
        self.issue(&held).await
    }

    async fn issue(&self, held: &HeldToken) -> Result<Issued, Refusal> {
        let fault = |_| Refusal::new("server_error", "no random numbers from the operating system");
        let (now, lifetimes) = (self.now(), self.lifetimes());
        let (access, new_access) = new(TokenKind::Access, now.plus(lifetimes.access)).map_err(fault)?;
        let (refresh, new_refresh) = new(TokenKind::Refresh, now.plus(lifetimes.refresh)).map_err(fault)?;
        let change = Change::by_client(held.consent.id, held.consent.agent, "clients.exchange");
        let new = [(TokenKind::Access, new_access), (TokenKind::Refresh, new_refresh)];
        match self.store().exchange_token(&change, held, &new).await? {
            Exchanged::Done => Ok(Issued {
                access,
                expires_in: lifetimes.access.as_secs(),
                refresh,
            }),
            Exchanged::Replayed => {
                tracing::warn!(
                    consent = %held.consent.id,
                    "a code or refresh token was sent a second time: all tokens of this client's consent were revoked"
                );
                self.tokens().refresh().await?;
                Err(Refusal::grant())
            }
            Exchanged::Ended => Err(Refusal::grant()),
        }
    }

    /// Gives a token back (RFC 7009): all that came of its consent is revoked, once the tokens are read
    /// again. A token that is none is revoked already.
    ///
    /// # Errors
    /// `invalid_request`, or when the store fails.
    pub async fn give_back(&self, parameters: &Parameters) -> Result<(), Refusal> {
        let text = parameters.needed("token")?;
        let client = parameters.needed("client_id")?;
        for kind in [TokenKind::Refresh, TokenKind::Access] {
            let Some(held) = self.held(kind, text).await? else {
                continue;
            };
            if *held.consent.client == *client {
                let consent = &held.consent;
                let change = Change::by_client(consent.id, consent.agent, "clients.give_back");
                self.store()
                    .end_consent(held.tenant, &change, consent.id, "given_back")
                    .await?;
            }
        }
        Ok(())
    }

    /// The stored token of this text and kind. Whether it is still good is another question.
    async fn held(&self, kind: TokenKind, text: &str) -> Result<Option<HeldToken>, Refusal> {
        let word = match kind {
            TokenKind::Access => "token",
            TokenKind::Code | TokenKind::Refresh => kind.as_str(),
        };
        let Some(given) = Opaque::parse(text).filter(|given| given.kind == word) else {
            return Ok(None);
        };
        let held = self.store().held_token(TokenId::from_uuid(given.id)).await?;
        Ok(held.filter(|held| held.kind == kind && bool::from(held.hash.ct_eq(&given.hash))))
    }
}

/// Whether whoever sends a code is who asked for it (RFC 7636 section 4.6).
fn proven(held: &HeldToken, parameters: &Parameters) -> Result<(), Refusal> {
    let redirect_uri = parameters.needed("redirect_uri")?;
    let verifier = parameters.needed("code_verifier")?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let same = held
        .challenge
        .as_deref()
        .is_some_and(|known| bool::from(known.as_bytes().ct_eq(challenge.as_bytes())));
    if same && held.redirect_uri.as_deref() == Some(redirect_uri) {
        return Ok(());
    }
    Err(Refusal::grant())
}
