//! Reading a page of the registry, entry by entry: one that cannot be read hides no other.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Listed;
use super::entry::listed;

/// A page of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its servers, in the registry's order, each in its newest version.
    pub servers: Vec<Listed>,
    /// Where the next page begins; none at the end.
    pub next: Option<String>,
    /// Entries that were left out because they cannot be read.
    pub unreadable: usize,
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    servers: Vec<&'a RawValue>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default, rename = "nextCursor", alias = "next_cursor")]
    next: Option<String>,
}

impl Page {
    /// Reads a page; none where it is no list of servers. Of several versions of a server the newest is kept, by the registry's own
    /// word and not by their order; what was deleted is left out.
    pub(super) fn read(body: &[u8], most: usize) -> Option<Self> {
        let document: Document<'_> = serde_json::from_slice(body).ok()?;
        let mut page = Self {
            servers: Vec::new(),
            next: document.metadata.next.filter(|next| !next.is_empty()),
            unreadable: 0,
        };
        for raw in document.servers {
            match listed(raw) {
                None => page.unreadable += 1,
                Some(found) if found.superseded || found.status == "deleted" => {}
                Some(found) if page.servers.iter().any(|known| known.name == found.name) => {}
                Some(found) if page.servers.len() < most => page.servers.push(found),
                Some(_) => {}
            }
        }
        Some(page)
    }
}
