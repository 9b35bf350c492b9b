//! Finding the authorization server of an MCP server (MCP 2026-07-28 "Authorization Server Discovery", RFC 9728 section 3, RFC 8414
//! section 3, OpenID Connect Discovery section 4).

use http::StatusCode;
use tokio::time::Instant;
use url::Url;

use super::exchange::Ask;
use super::{Challenge, OAuthError, ProtectedResource, ServerMetadata};
use crate::http::HttpClient;

const RESOURCE: &str = "the protected-resource metadata";
const SERVER: &str = "the authorization server's metadata";

/// Looks for the documents. The client's egress guard judges every address on the way, and no redirect is followed.
pub struct Discovery<'a> {
    /// The client, with the guard of this purpose.
    pub http: &'a HttpClient,
    /// When it must be over.
    pub deadline: Instant,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// The value of `resource` in every request for a token (RFC 8707).
    pub resource: String,
    /// The scopes the server asks for: those of its challenge, else those its metadata names.
    pub scopes: Vec<String>,
    /// Its authorization server.
    pub server: ServerMetadata,
}

impl Discovery<'_> {
    /// Finds the authorization server for an endpoint. `challenge` is what the endpoint said when it was asked without a token, if it
    /// did; some never say. `issuer` chooses among several.
    ///
    /// # Errors
    /// `NotFound`, `IssuerRequired`, `IssuerUnknown`, `OtherResource`, `OtherIssuer`, and what an address that was named answered.
    pub async fn run(
        &self,
        endpoint: &Url,
        challenge: Option<&Challenge>,
        issuer: Option<&str>,
    ) -> Result<Discovered, OAuthError> {
        let named = challenge.and_then(|challenge| challenge.resource_metadata.as_ref());
        let wanted = challenge
            .map(|challenge| challenge.scopes.clone())
            .unwrap_or_default();
        let Some(resource) = self.resource(endpoint, named).await? else {
            return self.at_the_origin(endpoint, wanted, issuer).await;
        };
        let chosen = choose(&resource.authorization_servers, issuer)?;
        let server = match chosen {
            Some(issuer) => self.server(issuer).await?,
            // A resource that names nobody is its own.
            None => return self.at_the_origin(endpoint, wanted, issuer).await,
        };
        Ok(Discovered {
            scopes: if wanted.is_empty() {
                resource.scopes_supported
            } else {
                wanted
            },
            resource: resource.resource,
            server,
        })
    }

    /// The metadata of a protected resource: where the challenge says, else at the well-known places, with the path and without.
    ///
    /// # Errors
    /// What was wrong with the document that the challenge names. At the well-known places anything but a fitting document counts as
    /// none.
    pub async fn resource(
        &self,
        endpoint: &Url,
        named: Option<&Url>,
    ) -> Result<Option<ProtectedResource>, OAuthError> {
        if let Some(url) = named {
            let got = Ask::get(RESOURCE, url).send(self.http, self.deadline).await?;
            if got.status != StatusCode::OK {
                return Err(got.refusal(RESOURCE));
            }
            let document: ProtectedResource = got.json(RESOURCE)?;
            return covering(document, endpoint).map(Some);
        }
        let mut mismatch = None;
        for url in resource_places(endpoint) {
            let Some(document) = self.document::<ProtectedResource>(RESOURCE, &url).await else {
                continue;
            };
            match covering(document, endpoint) {
                Ok(document) => return Ok(Some(document)),
                Err(error) => mismatch = mismatch.or(Some(error)),
            }
        }
        mismatch.map_or(Ok(None), Err)
    }

    /// The metadata of an issuer.
    ///
    /// # Errors
    /// `OtherIssuer` where what was found is not its own; `NotFound`.
    pub async fn server(&self, issuer: &str) -> Result<ServerMetadata, OAuthError> {
        let base = Url::parse(issuer).map_err(|_| OAuthError::Malformed {
            what: RESOURCE,
            why: "it names an issuer that is no URL".to_owned(),
        })?;
        let mut other = None;
        for url in server_places(&base) {
            if let Some(document) = self.document::<ServerMetadata>(SERVER, &url).await {
                if same(&document.issuer, &base) {
                    return Ok(document);
                }
                other = other.or(Some(OAuthError::OtherIssuer {
                    expected: issuer.to_owned(),
                    found: document.issuer,
                }));
            }
        }
        Err(other.unwrap_or(OAuthError::NotFound))
    }

    /// Servers from before there was protected-resource metadata (MCP 2025-03-26) are their own authorization server.
    async fn at_the_origin(
        &self,
        endpoint: &Url,
        scopes: Vec<String>,
        issuer: Option<&str>,
    ) -> Result<Discovered, OAuthError> {
        let origin = endpoint.origin().ascii_serialization();
        let server = self.server(issuer.unwrap_or(&origin)).await?;
        Ok(Discovered {
            resource: canonical(endpoint),
            scopes,
            server,
        })
    }

    /// A document at a place where it may be; anything else is nothing.
    async fn document<T: serde::de::DeserializeOwned>(&self, what: &'static str, url: &Url) -> Option<T> {
        let got = Ask::get(what, url).send(self.http, self.deadline).await;
        let got = got
            .inspect_err(|error| tracing::debug!(%error, "nothing at a well-known place"))
            .ok()?;
        (got.status == StatusCode::OK).then(|| got.json(what).ok())?
    }
}

/// Which issuer: the only one, or the one that was chosen; none where there is none.
fn choose<'a>(issuers: &'a [String], chosen: Option<&str>) -> Result<Option<&'a str>, OAuthError> {
    match (issuers, chosen) {
        ([], _) => Ok(None),
        (_, Some(chosen)) => {
            let base = Url::parse(chosen).ok();
            let found = issuers
                .iter()
                .find(|issuer| *issuer == chosen || base.as_ref().is_some_and(|base| same(issuer, base)));
            found
                .map(|issuer| Some(issuer.as_str()))
                .ok_or_else(|| OAuthError::IssuerUnknown {
                    issuer: chosen.to_owned(),
                    issuers: issuers.to_vec(),
                })
        }
        ([only], None) => Ok(Some(only)),
        (several, None) => Err(OAuthError::IssuerRequired {
            issuers: several.to_vec(),
        }),
    }
}

fn covering(document: ProtectedResource, endpoint: &Url) -> Result<ProtectedResource, OAuthError> {
    if document.covers(endpoint) {
        return Ok(document);
    }
    Err(OAuthError::OtherResource {
        found: document.resource,
    })
}

/// An issuer is compared to the letter, but for the slash that an address without a path gets when it is read.
fn same(issuer: &str, base: &Url) -> bool {
    Url::parse(issuer).is_ok_and(|issuer| issuer == *base)
}

/// The address as a resource (RFC 8707 section 2, MCP "Canonical Server URI"): without a fragment, and without a slash for an empty path.
fn canonical(endpoint: &Url) -> String {
    let mut resource = endpoint.clone();
    resource.set_fragment(None);
    let bare = resource.path() == "/" && resource.query().is_none();
    let text = resource.to_string();
    if bare {
        text.trim_end_matches('/').to_owned()
    } else {
        text
    }
}

fn resource_places(endpoint: &Url) -> Vec<Url> {
    const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
    let with_path = format!("{WELL_KNOWN}{}", endpoint.path());
    at(endpoint, vec![with_path, WELL_KNOWN.to_owned()])
}

/// Where an issuer's metadata may be: its path behind the well-known part, and for OpenID Connect also before it.
fn server_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    at(
        issuer,
        vec![
            format!("/.well-known/oauth-authorization-server{path}"),
            format!("/.well-known/openid-configuration{path}"),
            format!("{path}/.well-known/openid-configuration"),
        ],
    )
}

/// Addresses of these paths, each once. Whether a slash at the end counts is a matter of taste there: there is none.
fn at(base: &Url, paths: Vec<String>) -> Vec<Url> {
    let mut places: Vec<Url> = Vec::with_capacity(paths.len());
    for path in paths {
        let mut url = base.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(path.trim_end_matches('/'));
        if !places.contains(&url) {
            places.push(url);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{canonical, choose, resource_places, server_places};

    fn texts(urls: Vec<Url>) -> Vec<String> {
        urls.iter().map(|url| url.path().to_owned()).collect()
    }

    #[test]
    fn places() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert_eq!(
            texts(resource_places(&url("https://a.example/v1/mcp/?x=1"))),
            [
                "/.well-known/oauth-protected-resource/v1/mcp",
                "/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(
            texts(resource_places(&url("https://a.example"))),
            ["/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            texts(server_places(&url("https://a.example/mcp"))),
            [
                "/.well-known/oauth-authorization-server/mcp",
                "/.well-known/openid-configuration/mcp",
                "/mcp/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            texts(server_places(&url("https://a.example/"))),
            [
                "/.well-known/oauth-authorization-server",
                "/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn resources() {
        for (endpoint, expected) in [
            ("https://A.example", "https://a.example"),
            ("https://a.example/", "https://a.example"),
            ("https://a.example/mcp/", "https://a.example/mcp/"),
            ("https://a.example/mcp?x=1#y", "https://a.example/mcp?x=1"),
            ("https://a.example/?x=1", "https://a.example/?x=1"),
        ] {
            assert_eq!(canonical(&Url::parse(endpoint).unwrap()), expected);
        }
    }

    #[test]
    fn issuers() {
        let issuers =
            |list: &[&str]| -> Vec<String> { list.iter().map(|&issuer| issuer.to_owned()).collect() };
        let cases = [
            (vec![], None, "none"),
            (vec!["https://a"], None, "https://a"),
            (vec!["https://a", "https://b"], None, "oauth.issuer_required"),
            (vec!["https://a", "https://b"], Some("https://b"), "https://b"),
            (vec!["https://a/", "https://b"], Some("https://a"), "https://a/"),
            (vec!["https://a"], Some("https://c"), "oauth.issuer_unknown"),
            (vec!["https://a/x"], Some("https://a"), "oauth.issuer_unknown"),
        ];
        for (list, chosen, expected) in cases {
            let list = issuers(&list);
            let found = match choose(&list, chosen) {
                Ok(found) => found.unwrap_or("none"),
                Err(error) => error.code(),
            };
            assert_eq!(found, expected, "{list:?} {chosen:?}");
        }
    }
}
