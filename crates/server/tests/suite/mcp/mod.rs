//! Inbound MCP.

mod approvals;
mod bridged;
mod calls;
mod changes;
mod legacy;
mod modern;
mod operator;
mod peer;
mod places;
mod streams;
