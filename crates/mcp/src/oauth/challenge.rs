//! What a server says when it wants a token: `WWW-Authenticate` (RFC 9110 section 11.6.1, RFC 6750 section 3, RFC 9728 section 5.1).

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use tokio::time::Instant;
use url::Url;

use crate::http::HttpClient;

/// What is asked to be refused: the smallest request there is.
const PING: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;

/// The Bearer challenge of an answer, read as servers write them: values quoted or not, blanks after commas or not, parameters nobody
/// knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the metadata of the protected resource is.
    pub resource_metadata: Option<Url>,
    /// The scopes it wants, in its order.
    pub scopes: Vec<String>,
    /// Its code, such as `invalid_token` or `insufficient_scope`.
    pub error: Option<String>,
}

impl Challenge {
    /// What an endpoint says to a request without a token; none where it does not ask for one. No credential goes along: some say
    /// nothing once there is one.
    pub async fn of_endpoint(http: &HttpClient, endpoint: &Url, deadline: Instant) -> Option<Self> {
        let mut request = Request::new(Bytes::from_static(PING));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::try_from(endpoint.as_str()).ok()?;
        let headers = request.headers_mut();
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let response = http.send(request, deadline).await.ok()?;
        if response.status != StatusCode::UNAUTHORIZED {
            return None;
        }
        let all = response.headers.get_all(WWW_AUTHENTICATE);
        let texts: Vec<&str> = all.iter().filter_map(|value| value.to_str().ok()).collect();
        Self::parse(&texts.join(", "))
    }

    /// Reads a header's value; none where it holds no Bearer challenge. Several headers of that name may be joined by commas.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let mut found: Option<Self> = None;
        let mut rest = value;
        while let Some(item) = Item::next(&mut rest) {
            match item {
                Item::Scheme(_) if found.is_some() => break,
                Item::Scheme(scheme) if scheme.eq_ignore_ascii_case("bearer") => {
                    found = Some(Self::default())
                }
                Item::Scheme(_) => {}
                Item::Parameter(name, text) => {
                    if let Some(challenge) = &mut found {
                        challenge.take(name, text);
                    }
                }
            }
        }
        found
    }

    fn take(&mut self, name: &str, text: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => self.resource_metadata = Url::parse(&text).ok(),
            "scope" => self.scopes = text.split_ascii_whitespace().map(str::to_owned).collect(),
            "error" => self.error = Some(text),
            _ => {}
        }
    }
}

enum Item<'a> {
    /// The beginning of a challenge.
    Scheme(&'a str),
    Parameter(&'a str, String),
}

impl<'a> Item<'a> {
    fn next(rest: &mut &'a str) -> Option<Self> {
        let text = rest.trim_start_matches([' ', '\t', ',']);
        let end = text.find([' ', '\t', ',', '=']).unwrap_or(text.len());
        let (word, after) = text.split_at_checked(end)?;
        if word.is_empty() {
            // A stray `=`: nothing after it can be told apart.
            *rest = "";
            return None;
        }
        let Some(value) = after.trim_start_matches([' ', '\t']).strip_prefix('=') else {
            *rest = after;
            return Some(Self::Scheme(word));
        };
        let value = value.trim_start_matches([' ', '\t']);
        let (text, after) = match value.strip_prefix('"') {
            Some(quoted) => unquote(quoted),
            None => {
                let end = value.find([' ', '\t', ',']).unwrap_or(value.len());
                let (bare, after) = value.split_at_checked(end)?;
                (bare.to_owned(), after)
            }
        };
        *rest = after;
        Some(Self::Parameter(word, text))
    }
}

/// A quoted string whose opening quote was taken, and what is after it.
fn unquote(quoted: &str) -> (String, &str) {
    let mut text = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, quoted.get(at + 1..).unwrap_or_default()),
            '\\' => text.extend(chars.next().map(|(_, escaped)| escaped)),
            _ => text.push(c),
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::Challenge;

    #[test]
    fn challenges() {
        let metadata = "https://mcp.example/.well-known/oauth-protected-resource";
        let cases = [
            ("", None),
            ("Basic realm=\"x\"", None),
            ("Bearer", Some(("", "", ""))),
            (
                "Bearer error=\"invalid_token\", error_description=\"gone, \\\"really\\\"\", resource_metadata=\"M\"",
                Some(("M", "", "invalid_token")),
            ),
            // Stripe: not quoted.
            ("Bearer resource_metadata=M", Some(("M", "", ""))),
            ("Bearer resource_metadata=M, scope=a", Some(("M", "a", ""))),
            // Figma: a parameter of its own, and no blank after a comma.
            (
                "Bearer resource_metadata=\"M\",scope=\"mcp:connect\",authorization_uri=\"https://x/?a=b\"",
                Some(("M", "mcp:connect", "")),
            ),
            ("bearer SCOPE=\"a b\", realm=r", Some(("", "a b", ""))),
            ("Basic realm=\"a\", Bearer scope=\"x\"", Some(("", "x", ""))),
            (
                "DPoP algs=\"ES256\", Bearer error=e, Digest scope=no",
                Some(("", "", "e")),
            ),
            ("Bearer scope = \"a\" , error = b", Some(("", "a", "b"))),
            ("Bearer scope=\"never closed", Some(("", "never closed", ""))),
            ("Bearer resource_metadata=\"not a url\"", Some(("", "", ""))),
            ("Bearer =x, scope=a", None),
        ];
        for (header, expected) in cases {
            let found = Challenge::parse(&header.replace('M', metadata));
            let found = found.map(|found| {
                let url = found
                    .resource_metadata
                    .map(|url| url.to_string())
                    .unwrap_or_default();
                (url, found.scopes.join(" "), found.error.unwrap_or_default())
            });
            let expected = expected.map(|(url, scope, error): (&str, &str, &str)| {
                (url.replace('M', metadata), scope.to_owned(), error.to_owned())
            });
            assert_eq!(found, expected, "{header}");
        }
    }
}
