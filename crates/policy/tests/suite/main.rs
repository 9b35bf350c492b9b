//! Decisions as data: facts and a call go in, a decision and its reason come out.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test stops where its set-up is wrong"
)]

mod current;
mod fixtures;
mod names;
mod narrowing;
mod operator;
mod properties;
mod rules;
mod world;
