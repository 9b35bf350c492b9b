//! Documents of MCP clients that nobody knows yet, read past the guard that keeps requests out of private networks.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use identity::oauth::{ClientDocuments, Fetching};
use mcp::egress::Egress;
use mcp::http::{HttpClient, HttpOptions};
use tokio::time::Instant;
use url::Url;

/// How long one may take.
const WITHIN: Duration = Duration::from_secs(10);
/// Most bytes of one.
const MOST: usize = 64 * 1024;

pub(super) struct Strangers {
    http: HttpClient,
}

impl Strangers {
    pub(super) fn new(egress: Egress) -> anyhow::Result<Self> {
        let http = HttpClient::new(HttpOptions {
            egress: Arc::new(egress),
            ..HttpOptions::default()
        });
        let http = http.context("the client for documents of clients")?;
        Ok(Self { http })
    }
}

impl ClientDocuments for Strangers {
    fn fetch(&self, url: Url) -> Fetching<'_> {
        Box::pin(async move {
            let read = self.http.document(&url, &url, (MOST, Instant::now() + WITHIN));
            match read.await {
                Ok((200, document)) => Ok(document),
                Ok((status, _)) => Err(format!("the answer is {status}")),
                Err(error) => Err(error.to_string()),
            }
        })
    }
}
