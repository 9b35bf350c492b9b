//! Browsing the official registry of MCP servers (its API v0.1, `GET /v0.1/servers`).
//!
//! What is listed there is strangers' text: read entry by entry, cut to bounds, and nothing of it is run or trusted.

mod entry;
mod read;
mod template;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use mcp::egress::Egress;
use mcp::http::{HttpClient, HttpError};
use moka::sync::Cache;
use tokio::time::Instant;
use url::Url;

use crate::Connections;

pub use self::entry::{Auth, Listed, Ownership, Package, Remote};
pub use self::read::Page;

/// Largest page read, in bytes.
const LARGEST: usize = 4 * 1024 * 1024;
/// How long a page may take.
const WITHIN: Duration = Duration::from_secs(10);
/// Pages kept.
const PAGES: u64 = 256;
/// Longest cursor that is passed on.
const CURSOR: usize = 512;

/// Where the registry is, and how long its pages are kept.
#[derive(Debug, Clone)]
pub struct RegistryOptions {
    /// Its address, without a path of its own API: `https://registry.modelcontextprotocol.io`. None: there is none.
    pub url: Option<Url>,
    /// Which URLs may be reached for it: public `https`, and its own address where the operator registered exactly that.
    pub egress: Arc<Egress>,
    /// How long a page is kept.
    pub keep: Duration,
}

impl Default for RegistryOptions {
    fn default() -> Self {
        Self {
            url: None,
            egress: Arc::new(Egress::public()),
            keep: Duration::from_secs(300),
        }
    }
}

/// The registry gave no page. Says why, for people and the log.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The operator switched it off.
    #[error("no registry is configured")]
    Off,
    /// It cannot be asked.
    #[error("the registry cannot be reached")]
    Unreachable(#[from] HttpError),
    /// It answered with a status that is no success.
    #[error("the registry answered with status {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// It answered, but not with a page.
    #[error("the registry's answer is not a list of servers")]
    Malformed,
    /// The cursor is none of its own.
    #[error("the cursor is longer than any the registry gives")]
    Cursor,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// A part of a name; empty = all.
    pub query: String,
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// At most so many servers.
    pub limit: u16,
}

/// The registry of a process.
pub(crate) struct Registry {
    url: Option<Url>,
    http: HttpClient,
    pages: Cache<Wanted, Arc<Page>>,
}

impl Registry {
    pub(crate) fn new(options: &RegistryOptions, http: HttpClient) -> Self {
        Self {
            url: options.url.clone(),
            http,
            pages: Cache::builder()
                .max_capacity(PAGES)
                .time_to_live(options.keep)
                .build(),
        }
    }

    async fn page(&self, wanted: Wanted) -> Result<Arc<Page>, RegistryError> {
        if let Some(page) = self.pages.get(&wanted) {
            return Ok(page);
        }
        let base = self.url.as_ref().ok_or(RegistryError::Off)?;
        let url = address(base, &wanted)?;
        let deadline = Instant::now() + WITHIN;
        let (status, body) = self.http.document(&url, base, (LARGEST, deadline)).await?;
        if status != 200 {
            return Err(RegistryError::Status { status });
        }
        let page = Arc::new(Page::read(&body, usize::from(wanted.limit)).ok_or(RegistryError::Malformed)?);
        self.pages.insert(wanted, page.clone());
        Ok(page)
    }
}

impl Connections {
    /// A page of the registry, in its order. Pages are kept for a while.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub async fn browse_registry(&self, wanted: Wanted) -> Result<Arc<Page>, RegistryError> {
        let page = self.inner.registry.page(wanted).await;
        page.inspect_err(|error| {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            tracing::warn!(%error, ?cause, "the registry of servers gave no page");
        })
    }
}

/// The address of a page. Only the newest version of each server is asked for; a registry that does not know the parameter lists all.
fn address(base: &Url, wanted: &Wanted) -> Result<Url, RegistryError> {
    let mut url = base.clone();
    let path = format!("{}/v0.1/servers", base.path().trim_end_matches('/'));
    url.set_path(&path);
    {
        let mut query = url.query_pairs_mut();
        query.append_pair("limit", &wanted.limit.to_string());
        query.append_pair("version", "latest");
        if !wanted.query.is_empty() {
            query.append_pair("search", &wanted.query);
        }
        if let Some(cursor) = &wanted.cursor {
            if cursor.len() > CURSOR {
                return Err(RegistryError::Cursor);
            }
            query.append_pair("cursor", cursor);
        }
    }
    Ok(url)
}
