//! Replays what published servers answered to `initialize`, `server/discover` and the lists, byte for byte.

mod catalogue;
mod paging;
mod serving;

pub use catalogue::{Catalogue, CatalogueError, Discovery, Replay};
pub use serving::{CatalogueServer, serve_lines};

#[cfg(test)]
mod tests;
