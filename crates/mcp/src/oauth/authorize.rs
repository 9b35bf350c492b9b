//! Sending a person to the authorization server, and judging what comes back (RFC 6749 section 4.1, RFC 7636, RFC 8707, RFC 9207).

use domain::Secret;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use url::Url;

use super::exchange::refused;
use super::{OAuthError, ServerMetadata, unguessable};

/// A proof key: only who holds the verifier can use the code.
#[derive(Debug)]
pub struct Pkce {
    /// Kept secret until the code is exchanged.
    pub verifier: Secret,
}

/// What a person is sent off with.
#[derive(Debug, Clone, Copy)]
pub struct AuthorizationRequest<'a> {
    /// The client's ID.
    pub client_id: &'a str,
    /// Where to come back to, to the letter as it was registered.
    pub redirect_uri: &'a Url,
    /// What the tokens are for.
    pub resource: &'a str,
    /// Scopes; none leaves the choice to the server.
    pub scopes: &'a [String],
    /// Comes back with the answer.
    pub state: &'a str,
    /// Whether to ask for consent even where it was given before: some servers give a refresh token only then.
    pub consent: bool,
    /// What a provider wants besides. None of these replaces what is here.
    pub more: &'a [(String, String)],
}

/// What is known of a sign-in under way, when its answer comes.
#[derive(Debug, Clone, Copy)]
pub struct Waiting<'a> {
    /// The state it was begun with.
    pub state: &'a str,
    /// The issuer it was begun at, to the letter of its metadata.
    pub issuer: &'a str,
    /// Whether that issuer says that its answers name it.
    pub names_itself: bool,
}

/// An answer, as the browser brings it in a query.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    code: Option<Secret>,
    /// The state, by which the sign-in it belongs to is found.
    pub state: Option<String>,
    issuer: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

impl Pkce {
    /// Makes one.
    ///
    /// # Errors
    /// When the operating system gives no random numbers.
    pub fn generate() -> Result<Self, OAuthError> {
        Ok(Self {
            verifier: unguessable()?,
        })
    }

    /// What the authorization server is told of it (S256).
    #[must_use]
    pub fn challenge(&self) -> String {
        use base64::Engine as _;
        let digest = Sha256::digest(self.verifier.expose().as_bytes());
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(digest)
    }
}

impl AuthorizationRequest<'_> {
    /// The address to send the person to.
    ///
    /// # Errors
    /// Where the server cannot be trusted with it: see [`ServerMetadata::sign_in`].
    pub fn url(&self, server: &ServerMetadata, pkce: &Pkce) -> Result<Url, OAuthError> {
        let challenge = pkce.challenge();
        let scope = self.scopes.join(" ");
        let mut ours = vec![
            ("response_type", "code"),
            ("client_id", self.client_id),
            ("redirect_uri", self.redirect_uri.as_str()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", self.state),
            ("resource", self.resource),
        ];
        if !scope.is_empty() {
            ours.push(("scope", &scope));
        }
        if self.consent {
            ours.push(("prompt", "consent"));
        }
        let mut url = server.sign_in()?.clone();
        url.set_fragment(None);
        let kept: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let mut query = url.query_pairs_mut();
        query.clear();
        // Neither the endpoint's own query nor a provider's wish speaks for us.
        let others = kept.iter().chain(self.more);
        query.extend_pairs(others.filter(|(name, _)| ours.iter().all(|(taken, _)| taken != name)));
        query.extend_pairs(ours.iter().copied());
        drop(query);
        Ok(url)
    }
}

impl Answer {
    /// Reads a query. A parameter that stands twice makes it no answer (RFC 6749 section 3.1).
    #[must_use]
    pub fn of_query(query: &str) -> Option<Self> {
        let mut answer = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let place = match &*name {
                "code" => {
                    if answer.code.replace(Secret::new(value)).is_some() {
                        return None;
                    }
                    continue;
                }
                "state" => &mut answer.state,
                "iss" => &mut answer.issuer,
                "error" => &mut answer.error,
                "error_description" => &mut answer.description,
                _ => continue,
            };
            if place.replace(value.into_owned()).is_some() {
                return None;
            }
        }
        Some(answer)
    }

    /// The code, if the answer belongs to this sign-in.
    ///
    /// # Errors
    /// `Mixed` where it does not, before anything of it is believed; `Refused` with the server's reason.
    pub fn code(self, waiting: &Waiting<'_>) -> Result<Secret, OAuthError> {
        let mixed = |why| Err(OAuthError::Mixed { why });
        let state = self.state.unwrap_or_default();
        if !bool::from(state.as_bytes().ct_eq(waiting.state.as_bytes())) {
            return mixed("its state is another");
        }
        // RFC 9207 section 2.4: compared to the letter.
        match self.issuer {
            Some(issuer) if issuer != waiting.issuer => return mixed("it names another issuer"),
            None if waiting.names_itself => {
                return mixed("it does not name its issuer, which this one always does");
            }
            Some(_) | None => {}
        }
        if let Some(error) = self.error {
            return Err(refused(&error, self.description.as_deref(), 0));
        }
        self.code.map_or_else(|| mixed("it has no code"), Ok)
    }
}

#[cfg(test)]
mod tests {
    use domain::Secret;
    use url::Url;

    use super::{Answer, AuthorizationRequest, Pkce, Waiting};
    use crate::oauth::ServerMetadata;

    /// RFC 7636 appendix B.
    #[test]
    fn challenge() {
        let pkce = Pkce {
            verifier: Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        };
        assert_eq!(pkce.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        let made = Pkce::generate().unwrap().verifier;
        assert_eq!(made.expose().len(), 43);
        assert_ne!(made.expose(), Pkce::generate().unwrap().verifier.expose());
    }

    #[test]
    fn where_a_person_is_sent() {
        let server: ServerMetadata = serde_json::from_str(
            r#"{"issuer":"https://as","authorization_endpoint":"https://as/go?tenant=t&state=theirs","code_challenge_methods_supported":["S256"]}"#,
        )
        .unwrap();
        let more = [
            ("access_type".to_owned(), "offline".to_owned()),
            ("client_id".to_owned(), "evil".to_owned()),
        ];
        let request = AuthorizationRequest {
            client_id: "us",
            redirect_uri: &Url::parse("http://localhost:7100/api/mcp/auth/callback").unwrap(),
            resource: "https://mcp.example/mcp",
            scopes: &["a".to_owned(), "b:c".to_owned()],
            state: "s",
            consent: true,
            more: &more,
        };
        let url = request.url(&server, &Pkce::generate().unwrap()).unwrap();
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let get = |wanted: &str| -> Vec<&str> {
            let named = pairs.iter().filter(|(name, _)| name == wanted);
            named.map(|(_, value)| value.as_str()).collect()
        };
        for (name, value) in [
            ("tenant", "t"),
            ("state", "s"),
            ("client_id", "us"),
            ("access_type", "offline"),
            ("scope", "a b:c"),
            ("resource", "https://mcp.example/mcp"),
            ("response_type", "code"),
            ("code_challenge_method", "S256"),
            ("prompt", "consent"),
            ("redirect_uri", "http://localhost:7100/api/mcp/auth/callback"),
        ] {
            assert_eq!(get(name), [value], "{name} in {url}");
        }
    }

    #[test]
    fn answers() {
        let (named, silent) = (("https://as", true), ("https://as", false));
        let cases = [
            ("code=c&state=s&iss=https%3A%2F%2Fas", named, "c"),
            ("code=c&state=s", silent, "c"),
            ("code=c&state=s", named, "oauth.mixed"),
            ("code=c&state=s&iss=https%3A%2F%2Fas%2F", named, "oauth.mixed"),
            ("code=c&state=s&iss=https%3A%2F%2Fevil", silent, "oauth.mixed"),
            (
                "error=access_denied&state=s&iss=https%3A%2F%2Fevil",
                silent,
                "oauth.mixed",
            ),
            ("code=c&state=other", silent, "oauth.mixed"),
            ("code=c", silent, "oauth.mixed"),
            ("code=c&code=d&state=s", silent, "none"),
            ("code=c&state=s&state=s", silent, "none"),
            ("state=s", silent, "oauth.mixed"),
            (
                "error=access_denied&error_description=no%0Away&state=s",
                silent,
                "oauth.refused",
            ),
            ("error=access_denied", silent, "oauth.mixed"),
            ("", silent, "oauth.mixed"),
        ];
        for (query, (issuer, names_itself), expected) in cases {
            let waiting = Waiting {
                state: "s",
                issuer,
                names_itself,
            };
            let found = match Answer::of_query(query).map(|answer| answer.code(&waiting)) {
                None => "none".to_owned(),
                Some(Ok(code)) => code.expose().to_owned(),
                Some(Err(error)) => {
                    assert!(!error.to_string().contains('\n'), "{error}");
                    error.code().to_owned()
                }
            };
            assert_eq!(found, expected, "{query}");
        }
    }
}
