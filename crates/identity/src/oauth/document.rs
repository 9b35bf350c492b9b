//! Clients whose id is the address of their metadata (OAuth Client ID Metadata Document): read when a person comes with one.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use url::Url;

use super::client::{Registration, SeenClient, name};
use super::{Refusal, redirect};

/// A document on its way, or why there is none.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send + 'a>>;

/// Reads documents of strangers, past the guard that keeps requests out of private networks.
pub trait ClientDocuments: Send + Sync {
    /// The document at this address, at most 64 KiB of it; redirects are no answer.
    fn fetch(&self, url: Url) -> Fetching<'_>;
}

/// How long one is kept.
const FRESH: Duration = Duration::from_secs(300);
/// How many are kept.
const MOST: usize = 256;

/// The documents, and what was read of late.
pub(super) struct Documents {
    source: Arc<dyn ClientDocuments>,
    read: Mutex<HashMap<String, (Instant, SeenClient)>>,
}

impl Documents {
    pub(super) fn new(source: Arc<dyn ClientDocuments>) -> Self {
        let read = Mutex::default();
        Self { source, read }
    }

    /// The client with this address.
    pub(super) async fn client(&self, id: &str) -> Result<SeenClient, Refusal> {
        let url = address(id)?;
        if let Some(known) = self.known(id) {
            return Ok(known);
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let document = self.source.fetch(url).await;
        let document = document.map_err(|why| {
            Refusal::client(format!(
                "the client's metadata document at {host} cannot be read: {why}"
            ))
        })?;
        let client = read(id, host, &document)?;
        let mut kept = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.retain(|_, (at, _)| at.elapsed() < FRESH);
        }
        if kept.len() < MOST {
            kept.insert(id.to_owned(), (Instant::now(), client.clone()));
        }
        Ok(client)
    }

    fn known(&self, id: &str) -> Option<SeenClient> {
        let kept = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, client) = kept.get(id)?;
        (at.elapsed() < FRESH).then(|| client.clone())
    }
}

/// An address that can be a client's id: HTTPS, with a path, and written in the one way there is.
fn address(id: &str) -> Result<Url, Refusal> {
    let refused = |why: &str| Refusal::client(format!("`client_id` {why}"));
    let url = Url::parse(id).map_err(|_| refused("is neither the id of a registered client nor a URL"))?;
    if url.scheme() != "https" {
        return Err(refused("must be an https URL, or the id of a registered client"));
    }
    if url.path() == "/" || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some()
    {
        return Err(refused(
            "must have a path, and neither a fragment nor a user name",
        ));
    }
    if url.as_str() != id {
        return Err(refused(
            "is not written as URLs are: no dots in the path, no default port, no capitals in the host",
        ));
    }
    Ok(url)
}

fn read(id: &str, host: String, document: &[u8]) -> Result<SeenClient, Refusal> {
    let refused = |why: &str| Refusal::client(format!("the client's metadata document {why}"));
    let said: Registration =
        serde_json::from_slice(document).map_err(|_| refused("is not JSON as RFC 7591 says"))?;
    if said.client_id.as_deref() != Some(id) {
        return Err(refused("has another `client_id` than its own address"));
    }
    let own = said
        .redirect_uris
        .iter()
        .filter(|uri| redirect::read(uri).is_ok());
    let redirect_uris: Vec<String> = own.take(64).cloned().collect();
    if redirect_uris.is_empty() {
        return Err(refused("has no address that people can be sent back to"));
    }
    Ok(SeenClient {
        id: id.to_owned(),
        name: name(said.client_name.as_deref()),
        host: Some(host),
        redirect_uris,
    })
}

#[cfg(test)]
mod tests {
    use super::{address, read};

    #[test]
    fn addresses_that_can_be_ids() {
        let cases = [
            ("https://client.example/oauth/client.json", true),
            ("https://client.example:8443/c", true),
            ("https://client.example/c?v=1", true),
            ("https://client.example/", false),
            ("https://client.example", false),
            ("http://client.example/c", false),
            ("https://client.example/a/../c", false),
            ("https://client.example:443/c", false),
            ("https://CLIENT.example/c", false),
            ("https://me@client.example/c", false),
            ("https://client.example/c#x", false),
            ("client", false),
        ];
        for (id, good) in cases {
            assert_eq!(address(id).is_ok(), good, "{id}");
        }
    }

    #[test]
    fn documents() {
        let id = "https://c.example/c";
        let cases = [
            (
                r#"{"client_id":"https://c.example/c","redirect_uris":["https://c.example/cb"]}"#,
                true,
            ),
            (
                r#"{"client_id":"https://c.example/d","redirect_uris":["https://c.example/cb"]}"#,
                false,
            ),
            (r#"{"redirect_uris":["https://c.example/cb"]}"#, false),
            (
                r#"{"client_id":"https://c.example/c","redirect_uris":["javascript:1"]}"#,
                false,
            ),
            (r#"{"client_id":"https://c.example/c"}"#, false),
            ("<html>", false),
        ];
        for (document, good) in cases {
            let client = read(id, "c.example".to_owned(), document.as_bytes());
            assert_eq!(client.is_ok(), good, "{document}: {client:?}");
        }
    }
}
