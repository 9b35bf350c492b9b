//! Proving to be a client by signing (RFC 7523): `private_key_jwt`.

use std::fmt;

use domain::{Secret, Timestamp};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::Serialize;

use super::{OAuthError, unguessable};

/// How long an assertion is good for, in seconds.
const LIFETIME: i64 = 60;

/// A client's private key.
pub struct SigningKey {
    key: EncodingKey,
    algorithm: Algorithm,
    id: Option<String>,
}

impl SigningKey {
    /// Reads a key in PEM for one of ES256, ES384, RS256, PS256 and EdDSA. `id` is the name (`kid`) the authorization server knows it by.
    ///
    /// # Errors
    /// `Key` where it cannot be read or the algorithm is another.
    pub fn from_pem(pem: &Secret, algorithm: &str, id: Option<String>) -> Result<Self, OAuthError> {
        let bytes = pem.expose().as_bytes();
        let (algorithm, key) = match algorithm {
            "ES256" => (Algorithm::ES256, EncodingKey::from_ec_pem(bytes)),
            "ES384" => (Algorithm::ES384, EncodingKey::from_ec_pem(bytes)),
            "RS256" => (Algorithm::RS256, EncodingKey::from_rsa_pem(bytes)),
            "PS256" => (Algorithm::PS256, EncodingKey::from_rsa_pem(bytes)),
            "EdDSA" => (Algorithm::EdDSA, EncodingKey::from_ed_pem(bytes)),
            other => {
                let why = format!("{other} is none of ES256, ES384, RS256, PS256, EdDSA");
                return Err(OAuthError::Key { why });
            }
        };
        let key = key.map_err(|_| OAuthError::Key {
            why: "it is not a private key in PEM for that algorithm".to_owned(),
        })?;
        Ok(Self { key, algorithm, id })
    }

    /// Signs that this is the client, for one authorization server and one request.
    pub(super) fn assertion(
        &self,
        client: &str,
        audience: &str,
        now: Timestamp,
    ) -> Result<String, OAuthError> {
        #[derive(Serialize)]
        struct Claims<'a> {
            iss: &'a str,
            sub: &'a str,
            aud: &'a str,
            jti: &'a str,
            iat: i64,
            exp: i64,
        }
        let now = now.micros() / 1_000_000;
        let jti = unguessable()?;
        let claims = Claims {
            iss: client,
            sub: client,
            aud: audience,
            jti: jti.expose(),
            iat: now,
            exp: now + LIFETIME,
        };
        let mut header = Header::new(self.algorithm);
        header.kid.clone_from(&self.id);
        jsonwebtoken::encode(&header, &claims, &self.key).map_err(|error| OAuthError::Key {
            why: error.to_string(),
        })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[private key for {:?}]", self.algorithm)
    }
}
