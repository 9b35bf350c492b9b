//! Hands what a server says during a call to whoever made the call.

use std::sync::Arc;

use domain::{CallEvents, PeerError};
use mcp::wire::RpcError;
use serde_json::value::RawValue;

/// The caller's ear, as the protocol wants it.
pub(super) struct Bridge(pub(super) Arc<dyn CallEvents>);

impl mcp::Events for Bridge {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        self.0.notification(method, params);
    }

    fn request(&self, request: mcp::ServerRequest) {
        let mcp::ServerRequest {
            method,
            params,
            responder,
        } = request;
        let answer = Box::new(move |outcome: Result<Box<RawValue>, PeerError>| {
            responder.answer(outcome.map_err(|error| RpcError {
                code: error.code,
                message: error.message,
                data: error.data.map(|data| data.as_ref().to_owned()),
            }));
        });
        self.0.request(&method, params.as_deref(), answer);
    }
}
