//! Integration tests of the connections crate.

mod import;

mod live;
