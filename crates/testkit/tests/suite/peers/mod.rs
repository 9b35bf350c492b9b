//! Our client against programs that others published, on every transport they have.

mod ear;
mod process;
mod session;
mod tap;

mod upstreams;
