//! A live session: requests out, answers matched, everything else routed to whom it belongs.

mod connect;
mod events;
mod facts;
mod inflight;
mod log;
mod negotiate;
mod patience;
mod request;
mod route;
mod session;
mod subscription;
mod upstream;

pub use events::{Events, LineSource, Listener, LogLine, Responder, ServerRequest, Silent};
pub use facts::ServerFacts;
pub(crate) use inflight::Answer;
pub use patience::{Patience, Standing};
pub use request::{ClientContext, Request};
pub(crate) use route::Own;
pub(crate) use session::{Call, Channel, Manner, Session, Ticket};
pub use subscription::Subscription;
pub use upstream::Upstream;
