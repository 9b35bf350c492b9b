//! The two documents that say where and how to sign in.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use super::OAuthError;

/// The metadata of a protected resource (RFC 9728 section 2), as far as it is used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProtectedResource {
    /// What it is about; the value of `resource` in every request for a token.
    pub resource: String,
    /// Issuers that give tokens for it, in its order of preference.
    #[serde(default)]
    pub authorization_servers: Vec<String>,
    /// Scopes that make sense for it.
    #[serde(default)]
    pub scopes_supported: Vec<String>,
}

/// The metadata of an authorization server (RFC 8414 section 2, OpenID Connect Discovery), as far as it is used. What is written is read
/// again as the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerMetadata {
    /// Who it is, to the letter.
    pub issuer: String,
    /// Where a person signs in.
    #[serde(default, deserialize_with = "address", serialize_with = "as_text")]
    pub authorization_endpoint: Option<Url>,
    /// Where tokens are.
    #[serde(default, deserialize_with = "address", serialize_with = "as_text")]
    pub token_endpoint: Option<Url>,
    /// Where clients register themselves.
    #[serde(default, deserialize_with = "address", serialize_with = "as_text")]
    pub registration_endpoint: Option<Url>,
    /// Where tokens are given back (RFC 7009).
    #[serde(default, deserialize_with = "address", serialize_with = "as_text")]
    pub revocation_endpoint: Option<Url>,
    /// Ways for clients to authenticate; where it does not say, RFC 8414 says `client_secret_basic`.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Scopes it knows, as far as it says.
    #[serde(default)]
    pub scopes_supported: Vec<String>,
    /// Challenges of RFC 7636 it takes.
    #[serde(default)]
    pub code_challenge_methods_supported: Vec<String>,
    /// Whether a client's ID may be the address of its metadata.
    #[serde(default)]
    pub client_id_metadata_document_supported: bool,
    /// Whether its answers name it (RFC 9207).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}

/// What is no address is as if it were not there: the other endpoints may be of use without it.
fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| Url::parse(&text).ok()))
}

#[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
fn as_text<S: Serializer>(url: &Option<Url>, serializer: S) -> Result<S::Ok, S::Error> {
    url.as_ref().map(Url::as_str).serialize(serializer)
}

impl ProtectedResource {
    /// Whether it covers an address: the same origin, and a path at or above it. Servers name their origin, or leave out a slash at
    /// the end.
    #[must_use]
    pub fn covers(&self, endpoint: &Url) -> bool {
        let Ok(resource) = Url::parse(&self.resource) else {
            return false;
        };
        let above = resource.path().trim_end_matches('/');
        let rest = endpoint.path().strip_prefix(above);
        resource.origin() == endpoint.origin()
            && resource.origin().is_tuple()
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl ServerMetadata {
    /// Where a person signs in, if the server promises what this must not go without: S256, and an address a browser may be sent to.
    ///
    /// # Errors
    /// `Unsupported`, `Malformed`.
    pub fn sign_in(&self) -> Result<&Url, OAuthError> {
        if !self
            .code_challenge_methods_supported
            .iter()
            .any(|method| method == "S256")
        {
            return Err(OAuthError::Unsupported {
                what: "proof keys (PKCE) with S256",
            });
        }
        let endpoint = self.authorization_endpoint.as_ref();
        let endpoint = endpoint.ok_or(OAuthError::Unsupported {
            what: "signing in with a browser",
        })?;
        // Anything else a browser, or the program that opens it, could take for an order (CVE-2025-6514).
        let local = matches!(endpoint.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if endpoint.scheme() == "https" || endpoint.scheme() == "http" && local {
            return Ok(endpoint);
        }
        Err(OAuthError::Malformed {
            what: "the authorization server's metadata",
            why: format!(
                "its authorization endpoint has the scheme `{}` instead of https",
                endpoint.scheme()
            ),
        })
    }

    /// Where tokens are.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn token_endpoint(&self) -> Result<&Url, OAuthError> {
        self.token_endpoint.as_ref().ok_or(OAuthError::Unsupported {
            what: "giving tokens (it has no token endpoint)",
        })
    }

    /// Whether a client may authenticate so.
    #[must_use]
    pub fn takes(&self, method: &str) -> bool {
        match &self.token_endpoint_auth_methods_supported {
            Some(methods) => methods.iter().any(|known| known == method),
            None => method == "client_secret_basic",
        }
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{ProtectedResource, ServerMetadata};

    #[test]
    fn what_a_resource_covers() {
        let cases = [
            ("https://mcp.example/mcp", "https://mcp.example/mcp", true),
            ("https://mcp.example/mcp", "https://mcp.example/mcp/", true),
            ("https://mcp.example/mcp/", "https://mcp.example/mcp", true),
            ("https://mcp.example", "https://mcp.example/", true),
            ("https://mcp.example", "https://mcp.example/v1/mcp?a=b", true),
            ("https://MCP.example:443/", "https://mcp.example/mcp", true),
            ("https://mcp.example/mcp", "https://mcp.example/mcp2", false),
            ("https://mcp.example/mcp", "https://mcp.example/", false),
            ("https://mcp.example", "https://other.example/", false),
            ("https://mcp.example", "http://mcp.example/", false),
            ("https://mcp.example:8443", "https://mcp.example/", false),
            ("urn:mcp", "urn:mcp", false),
            ("mcp.example", "https://mcp.example/", false),
        ];
        for (resource, endpoint, expected) in cases {
            let document = ProtectedResource {
                resource: resource.to_owned(),
                authorization_servers: Vec::new(),
                scopes_supported: Vec::new(),
            };
            let endpoint = Url::parse(endpoint).unwrap();
            assert_eq!(document.covers(&endpoint), expected, "{resource} {endpoint}");
        }
    }

    #[test]
    fn where_people_are_sent() {
        let cases = [
            ("https://as.example/authorize", r#"["S256"]"#, None),
            ("http://127.0.0.1:9/authorize", r#"["plain","S256"]"#, None),
            (
                "https://as.example/authorize",
                r#"["plain"]"#,
                Some("oauth.unsupported"),
            ),
            ("https://as.example/authorize", "[]", Some("oauth.unsupported")),
            (
                "http://as.example/authorize",
                r#"["S256"]"#,
                Some("oauth.malformed"),
            ),
            ("file:///bin/sh", r#"["S256"]"#, Some("oauth.malformed")),
            ("javascript:alert(1)", r#"["S256"]"#, Some("oauth.malformed")),
            ("a:$(open)", r#"["S256"]"#, Some("oauth.malformed")),
        ];
        for (endpoint, methods, expected) in cases {
            let text = format!(
                r#"{{"issuer":"https://as.example","authorization_endpoint":"{endpoint}","code_challenge_methods_supported":{methods}}}"#
            );
            let metadata: ServerMetadata = serde_json::from_str(&text).unwrap();
            assert_eq!(
                metadata.sign_in().err().map(|error| error.code()),
                expected,
                "{text}"
            );
        }
    }
}
