//! The real binary: served on a port of its own, driven by its own commands, stopped by a signal.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where its set-up is wrong"
)]

mod bridge;
mod corpora;
mod first_start;
mod house;
mod import;
mod killed;
mod no_defaults;
mod reload;
mod usage;
mod vault;
