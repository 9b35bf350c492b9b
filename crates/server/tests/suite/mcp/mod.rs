//! Inbound MCP.

mod approvals;
mod bridged;
mod calls;
mod changes;
mod legacy;
mod modern;
mod operator;
mod orphans;
mod outside;
mod peer;
mod places;
mod streams;
