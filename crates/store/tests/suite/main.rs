//! One suite for both databases: each test runs on SQLite, and on PostgreSQL where `SWITCHBOARD_TEST_POSTGRES` names a server.

#[cfg(test)]
mod harness;

#[cfg(test)]
mod approvals;
#[cfg(test)]
mod areas;
#[cfg(test)]
mod chain;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod encodings;
#[cfg(test)]
mod idempotency;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod tenancy;
#[cfg(test)]
mod vault;
