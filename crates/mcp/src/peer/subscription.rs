//! Change notifications of modern servers (2026-07-28, `subscriptions/listen`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::session::Manner;
use super::{Answer, Events, Listener, Request, Session};
use crate::error::{Phase, RequestError};
use crate::wire::{Object, raw};

/// A subscription has no deadline; it ends with its handle, its server or its session.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);

/// An open subscription. Dropping it tells the server to stop.
pub struct Subscription {
    honored: Box<RawValue>,
    ended: watch::Receiver<Option<Arc<str>>>,
    _stop: DropGuard,
}

impl Subscription {
    /// The part of the filter the server agreed to, as it acknowledged it.
    pub fn honored(&self) -> &RawValue {
        &self.honored
    }

    /// Waits until the subscription is over, and says why.
    pub async fn ended(&mut self) -> Arc<str> {
        match self
            .ended
            .wait_for(Option::is_some)
            .await
            .map(|reason| reason.clone())
        {
            Ok(Some(reason)) => reason,
            Ok(None) | Err(_) => Arc::from("the session is over"),
        }
    }
}

/// Opens a subscription and waits for its acknowledgement.
pub(crate) async fn open(
    session: &Arc<Session>,
    filter: &Object,
    listener: Arc<dyn Listener>,
    deadline: Instant,
) -> Result<Subscription, RequestError> {
    let unsendable = |error: crate::wire::WireError| RequestError::Unsendable(error.to_string());
    let mut params = Object::new();
    params.insert("notifications", filter.to_raw().map_err(unsendable)?);
    let (acknowledge, acknowledged) = oneshot::channel();
    let (over, ended) = watch::channel(None);
    let stop = CancellationToken::new();
    let forward = Arc::new(Forward {
        listener,
        acknowledge: Mutex::new(Some(acknowledge)),
    });
    let (refuse, refused) = oneshot::channel();
    let task = {
        let (session, stop) = (Arc::clone(session), stop.clone());
        async move {
            let request = Request::new("subscriptions/listen", params, Instant::now() + ENDLESS);
            let manner = Manner {
                version: session.version(),
                standing: true,
                cancellable: true,
            };
            let outcome = tokio::select! {
                outcome = session.ask(&request, forward, manner) => outcome,
                () = stop.cancelled() => Err(closed("nobody listens any more")),
                () = session.over.cancelled() => Err(closed("the session is over")),
            };
            // Both may be gone: the handle, or the one who waited for it.
            drop(over.send(Some(Arc::from(reason(&outcome)))));
            drop(refuse.send(outcome));
        }
    };
    session.spawn(task);
    let stop = stop.drop_guard();
    tokio::select! {
        // A subscription that was acknowledged and has ended since was open.
        biased;
        Ok(honored) = acknowledged => Ok(Subscription { honored, ended, _stop: stop }),
        outcome = refused => Err(match outcome {
            Ok(Err(error)) => error,
            Ok(Ok(_)) => closed("the server ended the subscription without acknowledging it"),
            Err(_) => closed("the session is over"),
        }),
        () = tokio::time::sleep_until(deadline) => Err(RequestError::Timeout { phase: Phase::Answer, sent: true }),
    }
}

fn closed(reason: &str) -> RequestError {
    RequestError::Closed {
        reason: reason.to_owned(),
        sent: true,
    }
}

fn reason(outcome: &Answer) -> String {
    match outcome {
        Ok(_) => "the server ended the subscription".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Hands what arrives on a subscription to its listener.
struct Forward {
    listener: Arc<dyn Listener>,
    acknowledge: Mutex<Option<oneshot::Sender<Box<RawValue>>>>,
}

impl Events for Forward {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        if method != "notifications/subscriptions/acknowledged" {
            return self.listener.notification(method, params);
        }
        let waiting = self
            .acknowledge
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let honored = params
            .and_then(|params| Object::parse(params).ok())
            .and_then(|mut params| params.remove("notifications"))
            .map_or_else(|| raw(&Object::new()), Ok);
        if let (Some(waiting), Ok(honored)) = (waiting, honored) {
            drop(waiting.send(honored));
        }
    }
}
