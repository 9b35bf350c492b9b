//! One bounded exchange of JSON or forms with an endpoint of an authorization server.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use url::Url;

use super::OAuthError;
use crate::http::{HttpClient, HttpError};

/// Largest document or answer read, in bytes.
const LARGEST: usize = 256 * 1024;
/// Longest description kept, in characters.
const DESCRIPTION: usize = 300;

/// How one is asked.
pub(super) struct Ask<'a> {
    pub(super) what: &'static str,
    pub(super) url: &'a Url,
    pub(super) method: Method,
    pub(super) content_type: Option<&'static str>,
    pub(super) authorization: Option<HeaderValue>,
    pub(super) body: Bytes,
}

/// What came back.
pub(super) struct Got {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Bytes,
}

impl<'a> Ask<'a> {
    pub(super) const fn get(what: &'static str, url: &'a Url) -> Self {
        Self {
            what,
            url,
            method: Method::GET,
            content_type: None,
            authorization: None,
            body: Bytes::new(),
        }
    }

    pub(super) fn post(
        what: &'static str,
        url: &'a Url,
        content_type: &'static str,
        body: impl Into<Bytes>,
    ) -> Self {
        Self {
            what,
            url,
            method: Method::POST,
            content_type: Some(content_type),
            authorization: None,
            body: body.into(),
        }
    }

    /// Sends it and reads the answer, whatever its status.
    pub(super) async fn send(self, http: &HttpClient, deadline: Instant) -> Result<Got, OAuthError> {
        let Self { what, .. } = self;
        let failed = |source: HttpError| OAuthError::Http { what, source };
        let uri = Uri::try_from(self.url.as_str())
            .map_err(|_| failed(HttpError::Request("its address cannot be requested")))?;
        let mut request = Request::new(self.body);
        *request.method_mut() = self.method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(content_type) = self.content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        if let Some(authorization) = self.authorization {
            headers.insert(AUTHORIZATION, authorization);
        }
        let response = http.send(request, deadline).await.map_err(failed)?;
        Ok(Got {
            status: response.status,
            retry_after: response.retry_after(),
            body: response.bytes(LARGEST, deadline).await.map_err(failed)?,
        })
    }
}

impl Got {
    /// The answer as a document.
    pub(super) fn json<T: DeserializeOwned>(&self, what: &'static str) -> Result<T, OAuthError> {
        serde_json::from_slice(&self.body).map_err(|error| OAuthError::Malformed {
            what,
            // The error's own words could repeat a value.
            why: format!(
                "its JSON does not fit at line {}, column {}",
                error.line(),
                error.column()
            ),
        })
    }

    /// The answer as an error: OAuth's own where it is one, else the status.
    pub(super) fn refusal(&self, what: &'static str) -> OAuthError {
        #[derive(Deserialize)]
        struct Refusal {
            error: String,
            error_description: Option<String>,
        }
        match serde_json::from_slice::<Refusal>(&self.body) {
            Ok(refusal) => refused(
                &refusal.error,
                refusal.error_description.as_deref(),
                self.status.as_u16(),
            ),
            Err(_) => OAuthError::Status {
                what,
                status: self.status.as_u16(),
                retry_after: self.retry_after,
            },
        }
    }
}

/// A refusal in a stranger's words, made harmless.
pub(super) fn refused(code: &str, description: Option<&str>, status: u16) -> OAuthError {
    OAuthError::Refused {
        code: plain(code, 64),
        description: description.map(|text| plain(text, DESCRIPTION)),
        status,
    }
}

/// One line of printable ASCII, cut: RFC 6749 allows no more in codes and descriptions.
fn plain(text: &str, most: usize) -> String {
    let printable = |c: char| if matches!(c, ' '..='~') { c } else { ' ' };
    text.chars().take(most).map(printable).collect()
}
