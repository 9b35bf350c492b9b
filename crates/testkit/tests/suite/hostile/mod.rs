//! Servers that misbehave in every way we could think of, behind a whole Switchboard: each has an expected outcome, none harms another
//! connection, each is used again when it behaves again, and nothing of it stays behind.

mod answers;
mod bench;
mod bodies;
mod counts;
mod definitions;
mod opening;
mod processes;
mod sessions;
mod soak;
mod statuses;
