//! This crate's programs run as programs, and our client against servers that others wrote or that were recorded.
//! Being here makes cargo build the programs for every run of the whole workspace.

#![expect(
    clippy::string_slice,
    reason = "tests cut texts they made or recorded themselves"
)]

// Marked as test code so that the lints know.
#[cfg(test)]
mod authority;
#[cfg(test)]
mod catalogues;
#[cfg(test)]
mod catalogues_exposed;
#[cfg(test)]
mod child;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod corpora;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod kernel;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod phone;
#[cfg(test)]
mod six_servers;
