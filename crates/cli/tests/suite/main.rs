//! The real binary: served on a port of its own, driven by its own commands, stopped by a signal.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test stops where its set-up is wrong"
)]

mod bridge;
mod client;
mod compatible;
mod corpora;
mod crash;
mod drain;
mod faults;
mod first_keys;
mod first_start;
mod house;
mod import;
mod killed;
mod no_defaults;
mod people;
mod platform;
mod progress;
mod proxies;
mod relay;
mod reload;
mod scene;
mod sign_in;
mod skills;
mod store_copy;
mod upstream;
mod usage;
mod vault;
