//! A person comes with a client's request for authorization.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use url::Url;

use super::client::SeenClient;
use super::{Parameters, Refusal, Resources};

/// A request that can be put to a person.
#[derive(Debug, Clone)]
pub struct AuthorizationRequest {
    /// Who asks.
    pub client: SeenClient,
    /// Where the person is sent back to.
    pub redirect_uri: String,
    /// What the client knows its request by.
    pub state: Option<String>,
    /// The challenge of RFC 7636, by S256.
    pub challenge: String,
    /// The path of the endpoint it is about.
    pub resource: String,
}

/// Why a request is not put to a person.
#[derive(Debug, Clone)]
pub enum Unredirected {
    /// The person is told; nobody is sent anywhere, since it is not known where the client wants them.
    Shown(Refusal),
    /// The client is told, by sending the person back to this address.
    Sent(String),
}

impl AuthorizationRequest {
    /// The address the person is sent back to with these further parameters, with who we are (RFC 9207).
    #[must_use]
    pub fn back(&self, issuer: &str, with: &[(&str, &str)]) -> String {
        back(&self.redirect_uri, self.state.as_deref(), issuer, with)
    }

    /// The agent that the endpoint names, if it names one.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.resource.strip_prefix("/mcp/")?.split('/').next()
    }

    pub(super) fn read(
        client: SeenClient,
        parameters: &Parameters,
        resources: &Resources,
    ) -> Result<Self, Unredirected> {
        let redirect_uri = parameters.needed("redirect_uri").map_err(Unredirected::Shown)?;
        if !client.takes(redirect_uri) {
            return Err(Unredirected::Shown(Refusal::request(
                "`redirect_uri` is not one this client has given for itself; to the letter, but for the port on this machine",
            )));
        }
        // From here on it is known where the client is.
        let state = parameters.one("state").ok().flatten();
        let sent = |refusal: Refusal| {
            let with = [
                ("error", refusal.code),
                ("error_description", refusal.detail.as_str()),
            ];
            Unredirected::Sent(back(redirect_uri, state, &resources.issuer(), &with))
        };
        let asked = asked(parameters, resources).map_err(sent)?;
        Ok(Self {
            redirect_uri: redirect_uri.to_owned(),
            state: state.map(str::to_owned),
            challenge: asked.0,
            resource: asked.1,
            client,
        })
    }
}

/// The challenge and the endpoint.
fn asked(parameters: &Parameters, resources: &Resources) -> Result<(String, String), Refusal> {
    parameters.one("state")?;
    if parameters.needed("response_type")? != "code" {
        let detail = "`response_type` must be `code`";
        return Err(Refusal::new("unsupported_response_type", detail));
    }
    if parameters
        .one("response_mode")?
        .is_some_and(|mode| mode != "query")
    {
        return Err(Refusal::request("`response_mode` must be `query`, or left out"));
    }
    let challenge = parameters.needed("code_challenge")?;
    if parameters.needed("code_challenge_method")? != "S256" {
        return Err(Refusal::request("`code_challenge_method` must be `S256`"));
    }
    if URL_SAFE_NO_PAD
        .decode(challenge)
        .is_ok_and(|bytes| bytes.len() == 32)
    {
        let resource = parameters.one("resource")?.ok_or_else(Refusal::target)?;
        let resource = resources.path(resource).ok_or_else(Refusal::target)?;
        return Ok((challenge.to_owned(), resource));
    }
    Err(Refusal::request("`code_challenge` is not a SHA-256 in base64url"))
}

fn back(redirect_uri: &str, state: Option<&str>, issuer: &str, with: &[(&str, &str)]) -> String {
    // It was read before; what cannot be read is nowhere anybody is sent.
    let Ok(mut url) = Url::parse(redirect_uri) else {
        return String::new();
    };
    {
        let mut pairs = url.query_pairs_mut();
        pairs.extend_pairs(with);
        if let Some(state) = state {
            pairs.append_pair("state", state);
        }
        pairs.append_pair("iss", issuer);
    }
    url.into()
}
