//! One suite for both databases: each test runs on SQLite, and on PostgreSQL where `SWITCHBOARD_TEST_POSTGRES` names a server.

mod harness;

mod approvals;
mod areas;
mod chain;
mod crash;
mod encodings;
mod idempotency;
mod journal;
mod opening;
mod tenancy;
mod vault;
