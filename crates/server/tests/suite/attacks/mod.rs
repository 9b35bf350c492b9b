//! Attacks on the HTTP side, byte by byte against a whole Switchboard: each has its answer, and who behaves is served meanwhile.

mod bodies;
mod crowds;
mod framing;
mod hosts;
mod keys;
mod paths;
mod rates;
mod raw;
mod repeated;
mod slow;
