//! Connections at work: real processes, real servers, a real store and real decisions.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "set-up outside the test functions fails the test just as well"
)]

mod again;
mod context;
mod house;
mod pins;
mod process;
mod remote;
mod replaced;
