//! JSON-RPC 2.0 as MCP uses it: envelopes are read and written here, contents pass through untouched.

mod encode;
mod message;
mod object;
#[doc(hidden)]
pub mod probe;
mod salvage;

pub(crate) use encode::{Stamp, answer, failure, notification, request};
pub(crate) use message::{Incoming, each};
pub use message::{RpcError, WireError};
pub use object::{Object, raw};
pub(crate) use salvage::{Salvaged, salvage};

/// Error codes with a meaning of their own (JSON-RPC 2.0 §5.1; MCP 2026-07-28 basic "Error Codes").
pub mod codes {
    /// The message was not valid JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The message was not a valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// HTTP headers and body disagree, or a required header is missing.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a client capability that was not declared.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not speak the requested revision.
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// Whether only a modern server uses this code.
    pub const fn is_modern(code: i64) -> bool {
        matches!(code, HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION)
    }
}
