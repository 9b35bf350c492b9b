//! Hands what a server says during a call to whoever made the call, and lets the call's clock stand while the server waits for an
//! answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::{CallEvents, PeerError, PeerResponder};
use mcp::wire::{Object, RpcError, codes};
use mcp::{Patience, Responder, Standing};
use serde_json::value::RawValue;

use crate::depth::too_deep;
use crate::pool::Turn;

/// The caller's ear, as the protocol wants it.
pub(super) struct Bridge {
    caller: Arc<dyn CallEvents>,
    patience: Arc<Patience>,
    turn: Arc<Turn>,
    open: Open,
}

impl Bridge {
    pub(super) fn new(caller: Arc<dyn CallEvents>, patience: Arc<Patience>, turn: Arc<Turn>) -> Self {
        Self {
            caller,
            patience,
            turn,
            open: Open::default(),
        }
    }
}

impl mcp::Events for Bridge {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        if method == "notifications/cancelled"
            && let Some(id) = params
                .and_then(|params| Object::parse(params).ok())
                .and_then(|mut params| params.remove("requestId"))
        {
            // The server does not wait for it any more.
            self.open.close(id.get());
        }
        if params.is_none_or(|params| !too_deep(params.get())) {
            self.caller.notification(method, params);
        }
    }

    fn request(&self, request: mcp::ServerRequest) {
        let mcp::ServerRequest {
            method,
            params,
            responder,
        } = request;
        if params.as_deref().is_some_and(|params| too_deep(params.get())) {
            let error = RpcError::new(codes::INVALID_PARAMS, "the params are nested too deeply");
            return responder.answer(Err(error));
        }
        self.turn.give_back();
        let entry = self.open.enter(responder.id(), self.patience.stand());
        let answer = answering(responder);
        let answer = Box::new(move |outcome| {
            drop(entry);
            answer(outcome);
        });
        self.caller.request(&method, params.as_deref(), answer);
    }
}

/// Takes an answer in our terms to a server that asked.
pub(crate) fn answering(responder: Responder) -> PeerResponder {
    Box::new(move |outcome: Result<Box<RawValue>, PeerError>| {
        responder.answer(outcome.map_err(|error| RpcError {
            code: error.code,
            message: error.message,
            data: error.data.map(|data| data.as_ref().to_owned()),
        }));
    })
}

/// The requests of a server that nobody has answered yet, by their ids. The call's clock stands while there is one.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<HashMap<String, Standing>>>);

impl Open {
    /// Enters a request; it is closed when what this returns is dropped.
    fn enter(&self, id: &str, standing: Standing) -> Entry {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.to_owned(), standing);
        Entry {
            id: id.to_owned(),
            open: self.clone(),
        }
    }

    fn close(&self, id: &str) {
        let standing = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        drop(standing);
    }
}

/// A request nobody has answered yet.
struct Entry {
    id: String,
    open: Open,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.open.close(&self.id);
    }
}
