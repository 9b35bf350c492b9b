//! Agreeing on a version: `server/discover` first, `initialize` where that is not understood
//! (2026-07-28, basic/versioning and the backward compatibility of both transports).

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use super::session::{Agreed, Manner};
use super::{Answer, Request, ServerFacts, Session, Silent};
use crate::error::{ConnectError, RequestError};
use crate::target::{Negotiated, TransportKind};
use crate::version::{Era, ProtocolVersion};
use crate::wire::{Object, codes};

/// How to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// `server/discover`, then `initialize` if need be. The server may stay silent for this long.
    Probe(Duration),
    /// `initialize` with this version at once.
    Initialize(ProtocolVersion),
}

/// What the answer to `server/discover` says about the server.
enum Verdict {
    Modern(ProtocolVersion, Object),
    /// Modern, but asks for another version.
    Again(ProtocolVersion),
    Legacy(ProtocolVersion),
    Failed(ConnectError),
}

/// Agrees with the server and records what was agreed.
pub(crate) async fn negotiate(
    session: &Arc<Session>,
    opening: Opening,
    transport: TransportKind,
    deadline: Instant,
) -> Result<Arc<Agreed>, ConnectError> {
    let (version, result) = match opening {
        Opening::Probe(silence) => probe(session, silence, deadline).await?,
        Opening::Initialize(version) => initialize(session, version, deadline).await?,
    };
    let facts = ServerFacts::read(&result)
        .map_err(|error| ConnectError::Refused(RequestError::Malformed(error.to_string())))?;
    let agreed = Arc::new(Agreed {
        negotiated: Negotiated { version, transport },
        facts,
    });
    // Agreed once; a session is never negotiated twice.
    drop(session.agreed.set(Arc::clone(&agreed)));
    if version.era() == Era::Legacy
        && let Err(error) = session
            .tell("notifications/initialized", &Object::new(), deadline)
            .await
    {
        if !error.sent() {
            return Err(ConnectError::Refused(error));
        }
        // Some servers refuse it and work all the same.
        session.remark(&format!(
            "the server did not take notifications/initialized: {error}"
        ));
    }
    Ok(agreed)
}

async fn probe(
    session: &Arc<Session>,
    silence: Duration,
    deadline: Instant,
) -> Result<(ProtocolVersion, Object), ConnectError> {
    let newest = ProtocolVersion::NEWEST;
    let mut discover = pin!(discover(session, newest, deadline));
    let patience = deadline.min(Instant::now() + silence);
    let verdict = match timeout_at(patience, &mut discover).await {
        Ok(answer) => judge(answer, newest),
        Err(_) => {
            // Silent. `initialize` goes out as well; whichever era answers is the server's.
            let mut late = None;
            let mut initialize = pin!(initialize(session, ProtocolVersion::NEWEST_LEGACY, deadline));
            let first = loop {
                tokio::select! {
                    first = &mut initialize => break first,
                    answer = &mut discover, if late.is_none() => late = Some(answer),
                }
            };
            let refusal = match first {
                Ok(agreed) => return Ok(agreed),
                Err(refusal) => refusal,
            };
            let answer = match late {
                Some(answer) => answer,
                None if matches!(refusal, ConnectError::Refused(RequestError::Rpc { .. })) => discover.await,
                None => return Err(refusal),
            };
            match judge(answer, newest) {
                Verdict::Legacy(_) => Verdict::Failed(refusal),
                verdict => verdict,
            }
        }
    };
    match verdict {
        Verdict::Modern(version, result) => Ok((version, result)),
        Verdict::Legacy(version) => initialize(session, version, deadline).await,
        Verdict::Failed(error) => Err(error),
        Verdict::Again(version) => match judge(self::discover(session, version, deadline).await, version) {
            Verdict::Modern(version, result) => Ok((version, result)),
            Verdict::Failed(error) => Err(error),
            Verdict::Again(_) | Verdict::Legacy(_) => Err(ConnectError::Version {
                offered: version.to_string(),
            }),
        },
    }
}

async fn discover(session: &Arc<Session>, version: ProtocolVersion, deadline: Instant) -> Answer {
    let request = Request::new("server/discover", Object::new(), deadline);
    session
        .ask(&request, Arc::new(Silent), opening_manner(version))
        .await
}

/// The handshake of legacy sessions. A server that names the versions it wants is asked once more.
async fn initialize(
    session: &Arc<Session>,
    version: ProtocolVersion,
    deadline: Instant,
) -> Result<(ProtocolVersion, Object), ConnectError> {
    match initialize_once(session, version, deadline).await {
        Err(ConnectError::Refused(RequestError::Rpc { data: Some(data), .. }))
            if let Some(other) = supported(&data, Era::Legacy).filter(|other| *other != version) =>
        {
            initialize_once(session, other, deadline).await
        }
        outcome => outcome,
    }
}

async fn initialize_once(
    session: &Arc<Session>,
    version: ProtocolVersion,
    deadline: Instant,
) -> Result<(ProtocolVersion, Object), ConnectError> {
    let unsendable = |error: crate::wire::WireError| ConnectError::Target(error.to_string());
    let mut params = Object::new()
        .with("protocolVersion", version.as_str())
        .map_err(unsendable)?;
    params.insert("capabilities", session.client.capabilities.clone());
    params.insert("clientInfo", session.client.info.clone());
    let request = Request::new("initialize", params, deadline);
    let result = session
        .ask(&request, Arc::new(Silent), opening_manner(version))
        .await
        .map_err(|error| failed(session, error))?;
    let malformed = |text: String| ConnectError::Refused(RequestError::Malformed(text));
    let result = Object::parse(&result).map_err(|error| malformed(error.to_string()))?;
    let offered = result
        .text("protocolVersion")
        .ok_or_else(|| malformed("the answer to initialize names no protocol version".to_owned()))?;
    match offered.parse::<ProtocolVersion>() {
        Ok(version) if version.era() == Era::Legacy => Ok((version, result)),
        Ok(_) | Err(_) => Err(ConnectError::Version { offered }),
    }
}

const fn opening_manner(version: ProtocolVersion) -> Manner {
    // `initialize` must not be cancelled, and what follows a probe settles it anyway.
    Manner {
        version,
        standing: false,
        cancellable: false,
    }
}

fn judge(answer: Answer, asked: ProtocolVersion) -> Verdict {
    let legacy = Verdict::Legacy(ProtocolVersion::NEWEST_LEGACY);
    let result = match answer {
        Ok(result) => result,
        Err(error) => return judge_error(error, asked),
    };
    let Ok(result) = Object::parse(&result) else {
        return legacy;
    };
    // Servers that answer every method with something are not modern for it.
    let Some(offered) = result.read::<Vec<String>>("supportedVersions") else {
        return legacy;
    };
    match choose(&offered) {
        Some(version) if version.era() == Era::Modern => Verdict::Modern(version, result),
        Some(version) => Verdict::Legacy(version),
        None => Verdict::Failed(ConnectError::Version {
            offered: offered.join(", "),
        }),
    }
}

fn judge_error(error: RequestError, asked: ProtocolVersion) -> Verdict {
    match &error {
        RequestError::Rpc {
            code: codes::UNSUPPORTED_VERSION,
            data,
            ..
        } => {
            let offered = data.as_deref().map(names).unwrap_or_default();
            match choose(&offered) {
                Some(version) if version.era() == Era::Modern => Verdict::Again(version),
                Some(version) => Verdict::Legacy(version),
                None if offered.is_empty() => Verdict::Failed(ConnectError::Version {
                    offered: format!("anything but {asked}"),
                }),
                None => Verdict::Failed(ConnectError::Version {
                    offered: offered.join(", "),
                }),
            }
        }
        // Only a modern server uses these codes; `initialize` would not help.
        RequestError::Rpc { code, .. } if codes::is_modern(*code) => {
            Verdict::Failed(ConnectError::Refused(error))
        }
        // Nothing an older protocol would change.
        RequestError::Http {
            status: 401 | 402 | 403 | 407 | 429 | 502 | 503 | 504,
            ..
        }
        | RequestError::Redirect { .. }
        | RequestError::Unsendable(_)
        | RequestError::NoToken(_)
        | RequestError::Unreachable(_)
        | RequestError::Egress(_)
        | RequestError::Timeout { sent: false, .. } => Verdict::Failed(ConnectError::Refused(error)),
        RequestError::Closed { reason, .. } => Verdict::Failed(ConnectError::Closed {
            reason: reason.clone(),
        }),
        RequestError::Rpc { .. }
        | RequestError::Http { .. }
        | RequestError::Timeout { sent: true, .. }
        | RequestError::SessionExpired
        | RequestError::TooLarge { .. }
        | RequestError::Malformed(_) => Verdict::Legacy(ProtocolVersion::NEWEST_LEGACY),
    }
}

/// The newest version both sides know, modern before legacy.
fn choose(offered: &[String]) -> Option<ProtocolVersion> {
    ProtocolVersion::best(offered, Era::Modern).or_else(|| ProtocolVersion::best(offered, Era::Legacy))
}

/// The version of an era that an error's data asks for.
pub(crate) fn supported(data: &RawValue, era: Era) -> Option<ProtocolVersion> {
    ProtocolVersion::best(&names(data), era)
}

fn names(data: &RawValue) -> Vec<String> {
    let data = Object::parse(data).unwrap_or_default();
    data.read("supported")
        .or_else(|| data.read("supportedVersions"))
        .unwrap_or_default()
}

fn failed(session: &Session, error: RequestError) -> ConnectError {
    match error {
        RequestError::Closed { reason, .. } => ConnectError::Closed { reason },
        RequestError::Timeout { .. } => ConnectError::Timeout(session.limits.connect),
        error => ConnectError::Refused(error),
    }
}
