//! Being a client of an authorization server: one that was registered by hand, one whose ID is the address of its metadata, or one that
//! registers itself (RFC 7591).

use std::fmt;

use domain::{Secret, Timestamp};
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use url::Url;
use url::form_urlencoded::byte_serialize;

use super::exchange::Ask;
use super::{OAuthError, ServerMetadata, SigningKey};
use crate::http::HttpClient;

const REGISTRATION: &str = "the registration endpoint";

/// A client and how it proves to be it. It belongs to one issuer and is of no use at another.
#[derive(Debug)]
pub struct Client {
    /// Its ID.
    pub id: String,
    /// How it authenticates at the token endpoint.
    pub auth: ClientAuth,
}

/// How a client authenticates at the token endpoint (RFC 6749 section 2.3, RFC 7523 section 2.2).
pub enum ClientAuth {
    /// Not at all: it is public, and PKCE protects it.
    None,
    /// `client_secret_basic`.
    Basic(Secret),
    /// `client_secret_post`.
    Post(Secret),
    /// `private_key_jwt`.
    Key(SigningKey),
}

/// What a client tells of itself when it registers.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Its name, shown to people who consent.
    pub name: String,
    /// Where people are sent back to.
    pub redirect_uri: Url,
    /// A page about it.
    pub uri: Option<Url>,
}

/// Which client to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// One that was registered by hand.
    Given,
    /// The one whose ID is the address of our metadata.
    MetadataDocument,
    /// One that has to be registered.
    Register,
}

impl Choice {
    /// Chooses: what was given, else our metadata's address where the server takes that and we have one, else registration.
    ///
    /// # Errors
    /// `ClientRequired` where none of these is possible.
    pub fn of(server: &ServerMetadata, given: bool, has_document: bool) -> Result<Self, OAuthError> {
        if given {
            return Ok(Self::Given);
        }
        if has_document && server.client_id_metadata_document_supported {
            return Ok(Self::MetadataDocument);
        }
        if server.registration_endpoint.is_some() {
            return Ok(Self::Register);
        }
        Err(OAuthError::ClientRequired)
    }
}

impl Registration {
    /// Registers.
    ///
    /// # Errors
    /// `ClientRequired` where nobody can register, or only those it knows; what the endpoint answered otherwise.
    pub async fn send(
        &self,
        http: &HttpClient,
        server: &ServerMetadata,
        deadline: Instant,
    ) -> Result<Client, OAuthError> {
        #[derive(Serialize)]
        struct Wanted<'a> {
            client_name: &'a str,
            redirect_uris: [&'a str; 1],
            grant_types: [&'a str; 2],
            response_types: [&'a str; 1],
            token_endpoint_auth_method: &'a str,
            application_type: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            client_uri: Option<&'a str>,
        }
        #[derive(Deserialize)]
        struct Registered {
            client_id: String,
            client_secret: Option<String>,
            token_endpoint_auth_method: Option<String>,
        }
        let endpoint = server
            .registration_endpoint
            .as_ref()
            .ok_or(OAuthError::ClientRequired)?;
        let wanted = ["none", "client_secret_basic", "client_secret_post"]
            .into_iter()
            .find(|method| server.takes(method))
            .unwrap_or("none");
        let local = self.redirect_uri.scheme() == "http";
        let body = serde_json::to_vec(&Wanted {
            client_name: &self.name,
            redirect_uris: [self.redirect_uri.as_str()],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: wanted,
            // OpenID Connect Registration section 2: only native clients may be sent to this machine without TLS.
            application_type: if local { "native" } else { "web" },
            client_uri: self.uri.as_ref().map(Url::as_str),
        })
        .map_err(|error| OAuthError::Malformed {
            what: "our registration",
            why: error.to_string(),
        })?;
        let ask = Ask::post(REGISTRATION, endpoint, "application/json", body);
        let got = ask.send(http, deadline).await?;
        match got.status.as_u16() {
            200 | 201 => {}
            // It is there for those it knows.
            401 | 403 | 404 => return Err(OAuthError::ClientRequired),
            _ => return Err(got.refusal(REGISTRATION)),
        }
        let registered: Registered = got.json(REGISTRATION)?;
        let method = registered.token_endpoint_auth_method.as_deref().unwrap_or(wanted);
        let secret = registered.client_secret.map(Secret::new);
        let auth = match (method, secret) {
            ("none", None) => ClientAuth::None,
            // Some give a secret although none was asked for, and then want it.
            ("none", Some(secret)) if !server.takes("none") => ClientAuth::secret(server, secret),
            ("none", Some(_)) => ClientAuth::None,
            ("client_secret_post", Some(secret)) => ClientAuth::Post(secret),
            (_, Some(secret)) => ClientAuth::Basic(secret),
            (_, None) => {
                return Err(OAuthError::Malformed {
                    what: REGISTRATION,
                    why: "it gave no secret for a client that needs one".to_owned(),
                });
            }
        };
        Ok(Client {
            id: registered.client_id,
            auth,
        })
    }
}

impl ClientAuth {
    /// A secret, sent as the server takes it: in the header unless it takes it in the body only.
    #[must_use]
    pub fn secret(server: &ServerMetadata, secret: Secret) -> Self {
        if !server.takes("client_secret_basic") && server.takes("client_secret_post") {
            Self::Post(secret)
        } else {
            Self::Basic(secret)
        }
    }

    /// Its name (RFC 7591 section 2).
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic(_) => "client_secret_basic",
            Self::Post(_) => "client_secret_post",
            Self::Key(_) => "private_key_jwt",
        }
    }
}

impl fmt::Debug for ClientAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method())
    }
}

impl Client {
    /// Adds what proves that a request comes from this client: fields of the form, or a header.
    pub(super) fn prove(
        &self,
        server: &ServerMetadata,
        now: Timestamp,
        form: &mut Vec<(&'static str, String)>,
    ) -> Result<Option<HeaderValue>, OAuthError> {
        use base64::Engine as _;
        match &self.auth {
            ClientAuth::None => form.push(("client_id", self.id.clone())),
            ClientAuth::Post(secret) => {
                form.push(("client_id", self.id.clone()));
                form.push(("client_secret", secret.expose().to_owned()));
            }
            ClientAuth::Basic(secret) => {
                // RFC 6749 section 2.3.1: both are encoded as in a form first.
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encoded(&self.id), encoded(secret.expose()));
                let pair = base64::engine::general_purpose::STANDARD.encode(pair);
                let mut value =
                    HeaderValue::from_str(&format!("Basic {pair}")).map_err(|_| OAuthError::ClientAuth {
                        method: "client_secret_basic",
                    })?;
                value.set_sensitive(true);
                return Ok(Some(value));
            }
            ClientAuth::Key(key) => {
                form.push(("client_id", self.id.clone()));
                form.push((
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer".to_owned(),
                ));
                form.push(("client_assertion", key.assertion(&self.id, &server.issuer, now)?));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::Choice;
    use crate::oauth::ServerMetadata;

    #[test]
    fn which_client() {
        let (cimd, dcr) = (
            r#","client_id_metadata_document_supported":true"#,
            r#","registration_endpoint":"https://a/r""#,
        );
        let cases = [
            ("", true, true, "Given"),
            (cimd, true, true, "Given"),
            (cimd, false, true, "MetadataDocument"),
            (cimd, false, false, "oauth.client_required"),
            (dcr, false, true, "Register"),
            ("", false, true, "oauth.client_required"),
        ];
        for (more, given, document, expected) in cases {
            let server: ServerMetadata =
                serde_json::from_str(&format!(r#"{{"issuer":"https://a"{more}}}"#)).unwrap();
            let found = match Choice::of(&server, given, document) {
                Ok(choice) => format!("{choice:?}"),
                Err(error) => error.code().to_owned(),
            };
            assert_eq!(found, expected, "{more} {given} {document}");
        }
        let both: ServerMetadata =
            serde_json::from_str(&format!(r#"{{"issuer":"https://a"{cimd}{dcr}}}"#)).unwrap();
        assert_eq!(Choice::of(&both, false, true).unwrap(), Choice::MetadataDocument);
        assert_eq!(Choice::of(&both, false, false).unwrap(), Choice::Register);
    }
}
