//! One suite for both databases: each test runs on SQLite, and on PostgreSQL where `SWITCHBOARD_TEST_POSTGRES` names a server.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "set-up outside the test functions fails the test just as well"
)]

mod harness;

mod accounts;
mod approvals;
mod areas;
mod chain;
mod clocks;
mod copy;
mod crash;
mod encodings;
mod idempotency;
mod journal;
mod opening;
mod people;
mod skills;
mod tenancy;
mod vault;
