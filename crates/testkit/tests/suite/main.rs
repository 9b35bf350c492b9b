//! This crate's programs, run as programs. Being here makes cargo build them for every run of the whole workspace.

// Marked as test code so that the lints know.
#[cfg(test)]
mod child;
#[cfg(test)]
mod fixture;
