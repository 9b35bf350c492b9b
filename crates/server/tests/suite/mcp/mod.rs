//! Inbound MCP.

mod approvals;
mod bridged;
mod calls;
mod changes;
mod clocks;
mod legacy;
mod modern;
mod operator;
mod orphans;
mod outside;
pub(crate) mod peer;
mod places;
mod streams;
