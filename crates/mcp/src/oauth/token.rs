//! Getting tokens (RFC 6749 sections 4.1.3, 4.4.2, 5 and 6, RFC 8707 section 2).

use std::time::Duration;

use domain::{Secret, Timestamp};
use serde::Deserialize;
use tokio::time::Instant;
use url::{Url, form_urlencoded};

use super::exchange::Ask;
use super::{Client, OAuthError, ServerMetadata};
use crate::http::HttpClient;

const TOKEN: &str = "the token endpoint";
const REVOCATION: &str = "the revocation endpoint";

/// What tokens are asked for with.
#[derive(Debug, Clone, Copy)]
pub enum Grant<'a> {
    /// The code of an answer.
    Code {
        /// The code.
        code: &'a Secret,
        /// The verifier of the proof key.
        verifier: &'a Secret,
        /// Where the answer came to.
        redirect_uri: &'a Url,
    },
    /// A refresh token. It may be spent by this, whatever the answer.
    Refresh(&'a Secret),
    /// The client itself.
    ClientCredentials,
}

/// What was given.
#[derive(Debug)]
pub struct Tokens {
    /// Goes into `Authorization: Bearer`.
    pub access: Secret,
    /// Gets the next ones. After a refresh none means that the old one is still good.
    pub refresh: Option<Secret>,
    /// How long the access token is good for, from when it was asked for; none where the server does not say.
    pub lifetime: Option<Duration>,
    /// What it is good for, where that is other than what was asked.
    pub scopes: Option<Vec<String>>,
}

/// Who asks whom for tokens, and for what.
#[derive(Debug, Clone, Copy)]
pub struct TokenRequest<'a> {
    /// The client of HTTP, with the guard of this purpose.
    pub http: &'a HttpClient,
    /// The authorization server.
    pub server: &'a ServerMetadata,
    /// The client of that server.
    pub client: &'a Client,
    /// What the tokens are for.
    pub resource: &'a str,
    /// Scopes of the client's own grant. A code has those its request had, and a refresh keeps what it has.
    pub scopes: &'a [String],
    /// The time, which assertions are dated with.
    pub now: Timestamp,
    /// When it must be over.
    pub deadline: Instant,
}

impl TokenRequest<'_> {
    /// Asks for tokens.
    ///
    /// # Errors
    /// `Refused` with the server's code; [`OAuthError::may_have_acted`] says whether a refresh token may be spent.
    pub async fn send(&self, grant: Grant<'_>) -> Result<Tokens, OAuthError> {
        let endpoint = self.server.token_endpoint()?;
        let mut form = grant.form();
        if matches!(grant, Grant::ClientCredentials) && !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        form.push(("resource", self.resource.to_owned()));
        let authorization = self.client.prove(self.server, self.now, &mut form)?;
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let mut ask = Ask::post(TOKEN, endpoint, "application/x-www-form-urlencoded", body);
        ask.authorization = authorization;
        let got = ask.send(self.http, self.deadline).await?;
        if !got.status.is_success() {
            return Err(got.refusal(TOKEN));
        }
        // GitHub and others refuse with status 200.
        match got.json::<Given>(TOKEN) {
            Ok(given) => given.tokens(),
            Err(error) => match got.refusal(TOKEN) {
                refused @ OAuthError::Refused { .. } => Err(refused),
                _ => Err(error),
            },
        }
    }
}

impl TokenRequest<'_> {
    /// Gives a refresh token back, and with it what it got (RFC 7009 section 2). Says whether the server takes tokens back at all.
    ///
    /// # Errors
    /// When the server refuses, or cannot be asked.
    pub async fn give_back(&self, refresh: &Secret) -> Result<bool, OAuthError> {
        let Some(endpoint) = &self.server.revocation_endpoint else {
            return Ok(false);
        };
        let mut form = vec![
            ("token", refresh.expose().to_owned()),
            ("token_type_hint", "refresh_token".to_owned()),
        ];
        let authorization = self.client.prove(self.server, self.now, &mut form)?;
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let mut ask = Ask::post(REVOCATION, endpoint, "application/x-www-form-urlencoded", body);
        ask.authorization = authorization;
        let got = ask.send(self.http, self.deadline).await?;
        if got.status.is_success() {
            Ok(true)
        } else {
            Err(got.refusal(REVOCATION))
        }
    }
}

impl Grant<'_> {
    fn form(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Code {
                code,
                verifier,
                redirect_uri,
            } => vec![
                ("grant_type", "authorization_code".to_owned()),
                ("code", code.expose().to_owned()),
                ("code_verifier", verifier.expose().to_owned()),
                ("redirect_uri", redirect_uri.to_string()),
            ],
            Self::Refresh(token) => vec![
                ("grant_type", "refresh_token".to_owned()),
                ("refresh_token", token.expose().to_owned()),
            ],
            Self::ClientCredentials => vec![("grant_type", "client_credentials".to_owned())],
        }
    }
}

#[derive(Deserialize)]
struct Given {
    access_token: String,
    token_type: String,
    #[serde(default)]
    expires_in: Option<Seconds>,
    #[serde(default)]
    refresh_token: Option<String>,
    #[serde(default)]
    scope: Option<String>,
}

/// A number of seconds; some servers write it as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(f64),
    Text(String),
}

impl Given {
    fn tokens(self) -> Result<Tokens, OAuthError> {
        let malformed = |why: &str| OAuthError::Malformed {
            what: TOKEN,
            why: why.to_owned(),
        };
        if !self.token_type.eq_ignore_ascii_case("bearer") {
            return Err(malformed("its token is not a bearer token"));
        }
        if self.access_token.is_empty() {
            return Err(malformed("its token is empty"));
        }
        Ok(Tokens {
            access: Secret::new(self.access_token),
            refresh: self
                .refresh_token
                .filter(|token| !token.is_empty())
                .map(Secret::new),
            lifetime: self.expires_in.and_then(Seconds::duration),
            scopes: self.scope.map(|scope| {
                scope
                    .split([' ', ','])
                    .filter(|one| !one.is_empty())
                    .map(str::to_owned)
                    .collect()
            }),
        })
    }
}

impl Seconds {
    /// As time; a number that is none, such as −1, is as if it were not there.
    fn duration(self) -> Option<Duration> {
        let seconds = match self {
            Self::Number(seconds) => seconds,
            Self::Text(text) => text.trim().parse().ok()?,
        };
        Duration::try_from_secs_f64(seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Given;

    #[test]
    fn what_is_given() {
        let cases = [
            (
                r#"{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r","scope":"x y"}"#,
                "a r 3600 x+y",
            ),
            (
                r#"{"access_token":"a","token_type":"bearer","expires_in":"3599.5","scope":"x,y"}"#,
                "a - 3599.5 x+y",
            ),
            (
                r#"{"access_token":"a","token_type":"BEARER","refresh_token":"","expires_in":-1}"#,
                "a - - -",
            ),
            (
                r#"{"access_token":"a","token_type":"bearer","expires_in":null,"scope":null,"refresh_token":null}"#,
                "a - - -",
            ),
            (
                r#"{"access_token":"a","token_type":"bearer","expires_in":1e300}"#,
                "a - - -",
            ),
            (
                r#"{"access_token":"a","token_type":"bearer","expires_in":"soon"}"#,
                "a - - -",
            ),
            (r#"{"access_token":"a","token_type":"DPoP"}"#, "oauth.malformed"),
            (r#"{"access_token":"","token_type":"bearer"}"#, "oauth.malformed"),
        ];
        for (text, expected) in cases {
            let given: Given = serde_json::from_str(text).unwrap();
            let found = match given.tokens() {
                Ok(tokens) => format!(
                    "{} {} {} {}",
                    tokens.access.expose(),
                    tokens.refresh.as_ref().map_or("-", |token| token.expose()),
                    tokens
                        .lifetime
                        .map_or("-".to_owned(), |time| time.as_secs_f64().to_string()),
                    tokens.scopes.map_or("-".to_owned(), |scopes| scopes.join("+")),
                ),
                Err(error) => error.code().to_owned(),
            };
            assert_eq!(found, expected, "{text}");
        }
    }
}
