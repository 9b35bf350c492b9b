//! A request that may take a while: answered as plain JSON where it can be, as a stream from the moment there is something to say
//! before the answer.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use domain::{PeerError, Principal};
use gateway::View;
use http::StatusCode;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::answer::{Answer, Hints, RpcError, codes, empty_response, json_response};
use super::client::Client;
use super::ears::{Heard, Wish};
use super::flight::{Ask, Flight, Start, Step};
use super::log::{Log, Reading, Resumable, respond};
use super::place::Place;
use super::rounds;
use super::session::Running;
use super::version::{Era, Legacy};
use crate::problem::Problem;
use crate::state::AppState;

/// How often an upstream may ask for more input within one request.
const ROUNDS: usize = 10;

/// A request under way and everything its answer depends on.
pub(super) struct Talk {
    pub(super) state: AppState,
    pub(super) principal: Principal,
    pub(super) place: Place,
    pub(super) view: Arc<View>,
    pub(super) client: Client,
    pub(super) id: Box<RawValue>,
    pub(super) ask: Ask,
}

/// What a step of the call leads to.
pub(super) enum React {
    /// Nothing to say.
    Nothing,
    /// A notification for the client.
    Say(String),
    /// A request for the client, on the stream.
    Forward(Wish),
    /// A request for the client, as the answer.
    Park(Wish),
    /// An upstream's `input_required`, whose requests go to the client on the stream.
    Rounds(Box<RawValue>),
    /// The answer.
    Ended(Answer),
}

impl Talk {
    /// Starts the call.
    pub(super) fn start(&self, extras: super::flight::Extras) -> Flight {
        let start = Start {
            ask: self.ask.clone(),
            extras,
            after: None,
        };
        Flight::start(&self.state.gateway, &self.view, &self.client, start)
    }

    /// Answers. With `at_once` the stream begins before there is anything to say.
    pub(super) async fn run(self, mut flight: Flight, at_once: bool) -> Response {
        let running = self.client.session.as_ref().map(|session| session.run(&self.id));
        if at_once {
            return self.stream(flight, React::Nothing, running);
        }
        loop {
            let Some(step) = next(&mut flight, running.as_ref().map(|running| &running.token)).await else {
                return self.cancelled();
            };
            match self.react(step) {
                React::Nothing => {}
                React::Ended(answer) => return self.json(&answer),
                React::Park(wish) => return self.json(&self.park(flight, wish)),
                react @ (React::Say(_) | React::Forward(_) | React::Rounds(_)) => {
                    return self.stream(flight, react, running);
                }
            }
        }
    }

    /// Cancelled by the client, there is nothing to say (2025-11-25, cancellation); else its session ended.
    fn cancelled(&self) -> Response {
        match &self.client.session {
            Some(session) if session.ended.is_cancelled() => {
                Problem(super::legacy::session_not_found()).into_response()
            }
            _ => empty_response(StatusCode::ACCEPTED),
        }
    }

    pub(super) fn json(&self, answer: &Answer) -> Response {
        json_response(answer.status(self.client.era), self.write(answer))
    }

    fn write(&self, answer: &Answer) -> String {
        let hints = if self.ask.method() == "resources/read" {
            Hints::Cache(0)
        } else {
            Hints::Kind
        };
        answer.write(&self.id, self.client.era, hints)
    }

    fn react(&self, step: Step) -> React {
        match step {
            Step::Done(reply) => self.conclude(reply),
            Step::Heard(Heard::Note(note)) => React::Say(note),
            Step::Heard(Heard::Wish(wish)) => self.wished(wish),
            Step::Over => React::Ended(Answer::Error(RpcError::new(
                codes::INTERNAL,
                "the call is over already",
            ))),
        }
    }

    fn wished(&self, wish: Wish) -> React {
        if wish.method == "ping" {
            (wish.responder)(RawValue::from_string("{}".to_owned()).map_err(|error| PeerError {
                code: codes::INTERNAL,
                message: error.to_string(),
                data: None,
            }));
            return React::Nothing;
        }
        if !self.client.can.admits(&wish.method, wish.params.as_deref()) {
            wish.refuse();
            return React::Nothing;
        }
        match (self.client.era, &self.client.session) {
            (Era::Modern, _) => React::Park(wish),
            (Era::Legacy(_), Some(_)) => React::Forward(wish),
            (Era::Legacy(_), None) => {
                wish.refuse();
                React::Nothing
            }
        }
    }

    /// Begins a stream and leaves the rest to a task. A client with a session may lose its connection and resume; for any other the
    /// end of its connection is the end of the call.
    fn stream(self, flight: Flight, react: React, running: Option<Running>) -> Response {
        let log = Arc::new(Log::default());
        let (cancel, reading) = match (&self.client.session, &running) {
            (Some(session), Some(running)) => {
                let stream = session.keep(&log);
                let of = session.clone();
                let prime = session.version >= Legacy::V2025_11_25;
                let done = Box::new(move || of.sent(stream));
                let resumable = Some(Resumable { stream, prime, done });
                (
                    running.token.clone(),
                    Reading {
                        log: log.clone(),
                        from: 0,
                        resumable,
                        guard: None,
                    },
                )
            }
            _ => {
                let cancel = CancellationToken::new();
                let guard = Some(cancel.clone().drop_guard());
                (
                    cancel,
                    Reading {
                        log: log.clone(),
                        from: 0,
                        resumable: None,
                        guard,
                    },
                )
            }
        };
        let drive = async move {
            self.drive(flight, react, (&log, &cancel)).await;
            log.close();
            drop(running);
        };
        tokio::spawn(drive);
        respond(reading)
    }

    async fn drive(&self, mut flight: Flight, mut react: React, (log, cancel): (&Log, &CancellationToken)) {
        let mut asked = Vec::new();
        let mut rounds = 0;
        loop {
            match react {
                React::Nothing => {}
                React::Say(note) => log.note(&note),
                React::Forward(wish) => asked.extend(self.forward(wish, log)),
                React::Park(wish) => {
                    log.push(&self.write(&self.park(flight, wish)));
                    break;
                }
                React::Ended(answer) => {
                    log.push(&self.write(&answer));
                    break;
                }
                React::Rounds(required) => {
                    rounds += 1;
                    let extras = async {
                        if rounds > ROUNDS {
                            Err(rounds::TOO_MANY)
                        } else {
                            rounds::ask(self, &required, log).await
                        }
                    };
                    let extras = tokio::select! {
                        extras = extras => extras,
                        () = cancel.cancelled() => break,
                    };
                    match extras {
                        Ok(extras) => flight = self.start(extras),
                        Err(why) => {
                            log.push(&self.write(&self.failed("input_required", why)));
                            break;
                        }
                    }
                }
            }
            let Some(step) = next(&mut flight, Some(cancel)).await else {
                break;
            };
            react = self.react(step);
        }
        if let Some(session) = &self.client.session {
            asked.into_iter().for_each(|number| session.forget(number));
        }
    }

    /// Sends an upstream's request to the client; its number.
    fn forward(&self, wish: Wish, log: &Log) -> Option<u64> {
        let (text, number) = self.client.session.as_ref()?.ask(wish)?;
        log.push(&text);
        Some(number)
    }
}

/// The next step; none when the call was cancelled.
async fn next(flight: &mut Flight, cancel: Option<&CancellationToken>) -> Option<Step> {
    let Some(cancel) = cancel else {
        return Some(flight.next().await);
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        step = flight.next() => Some(step),
    }
}
