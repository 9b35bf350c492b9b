//! Opening a session.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use domain::{ClientContext, Sharing};
use futures::FutureExt;
use mcp::{ClientProfile, ConnectError, RequestError, Target, Upstream};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{Instant, timeout};

use super::ears::Ears;
use super::line::lock;
use super::live::Opened;
use super::{Line, Live, Opening, Settings};
use crate::connections::Inner;
use crate::{ConnectionError, SessionKey};

impl Inner {
    /// Opens a session in a task of its own: it becomes ready for the next caller even if the first one leaves.
    pub(super) fn opening(
        self: &Arc<Self>,
        line: &Arc<Line>,
        settings: &Arc<Settings>,
        own: Option<(SessionKey, ClientContext)>,
    ) -> Opening {
        let (done, ready) = oneshot::channel();
        let (inner, of, settings) = (self.clone(), line.clone(), settings.clone());
        let key = own.as_ref().map(|(key, _)| key.clone());
        let own = own.map(|(key, client)| (Some(key), client));
        let task = async move {
            let opened = tokio::select! {
                opened = inner.open(&of, &settings, own) => opened,
                () = of.stop.cancelled() => Err(ConnectionError::Stopped),
            };
            if let Ok(live) = &opened {
                inner.hear(&of, live, key);
            }
            // Nobody may be waiting any more.
            drop(done.send(opened));
        };
        self.tasks.spawn_on(task, &self.runtime);
        async move { ready.await.unwrap_or(Err(ConnectionError::Stopped)) }
            .boxed()
            .shared()
    }

    /// Opens a session. With a client, it is that client's own; with its key, what is said outside of calls goes there too.
    pub(crate) async fn open(
        self: &Arc<Self>,
        line: &Arc<Line>,
        settings: &Settings,
        own: Option<(Option<SessionKey>, ClientContext)>,
    ) -> Result<Arc<Live>, ConnectionError> {
        let renewed = self.renewed(line, settings).await?;
        let settings = renewed.as_deref().unwrap_or(settings);
        let process = match settings.is_process() {
            true => Some(self.process_permit(line).await?),
            false => None,
        };
        if settings.is_process() {
            lock(&line.rest).check()?;
        }
        let generation = settings.generation;
        let expected_end = Arc::new(AtomicBool::new(false));
        let (owner, client) = own.unzip();
        let ears = Ears {
            owner: owner.flatten(),
            inner: Arc::downgrade(self),
            line: Arc::downgrade(line),
            hidden: settings.secrets.clone(),
            opened: Instant::now(),
            process: settings.is_process(),
            kept: client.is_none() && settings.connection.sharing == Sharing::Shared,
            expected_end: expected_end.clone(),
        };
        let own = client.is_some();
        let target = Target {
            transport: settings.transport.clone(),
            client: profile(&self.profile, client),
            limits: self.limits.session(),
        };
        let remembered = *lock(&line.negotiated);
        let ears = Arc::new(ears);
        let sent = settings
            .tokens
            .as_ref()
            .map(|tokens| (tokens, tokens.generation()));
        let mut connected = Upstream::connect(target.clone(), remembered, ears.clone()).await;
        if let (Some((tokens, sent)), Err(error)) = (sent, &connected)
            && error.http_status() == Some(401)
        {
            // A token that is refused before its time: another one, once. Opening a session changes nothing.
            let replaced = tokens.replace(sent).await;
            connected = match replaced {
                Ok(()) => Upstream::connect(target, remembered, ears).await,
                Err(error) => Err(ConnectError::Refused(RequestError::NoToken(error))),
            };
        }
        let upstream = connected.map_err(|error| self.not_opened(line, settings, error))?;
        self.remember(line, &upstream).await;
        Ok(Arc::new(Live::new(Opened {
            upstream,
            own,
            generation,
            expected_end,
            process,
        })))
    }

    fn not_opened(&self, line: &Line, settings: &Settings, error: ConnectError) -> ConnectionError {
        if !settings.is_process() {
            return ConnectionError::Connect(Arc::new(error));
        }
        lock(&line.rest).ended(Duration::ZERO, &self.limits);
        match error {
            ConnectError::Closed { .. } | ConnectError::Spawn { .. } => {
                ConnectionError::Process(Arc::new(error))
            }
            ConnectError::Target(_)
            | ConnectError::Timeout(_)
            | ConnectError::Version { .. }
            | ConnectError::Refused(_) => ConnectionError::Connect(Arc::new(error)),
        }
    }

    async fn remember(&self, line: &Line, upstream: &Upstream) {
        let agreed = upstream.negotiated();
        if lock(&line.negotiated).replace(agreed) == Some(agreed) {
            return;
        }
        let text = Some(crate::negotiated::write(agreed).into());
        if let Err(error) = self.store.set_negotiated(line.tenant, line.id, text).await {
            tracing::warn!(%error, connection = %line.id, "what was negotiated could not be remembered");
        }
    }

    /// One of the processes the connection may have. Where all are taken, a client's idle one is ended; else this waits a while.
    async fn process_permit(&self, line: &Arc<Line>) -> Result<OwnedSemaphorePermit, ConnectionError> {
        if let Ok(permit) = line.processes.clone().try_acquire_owned() {
            return Ok(permit);
        }
        if let Some(idle) = line.longest_idle() {
            self.close_later(idle);
        }
        let waiting = timeout(self.limits.connect, line.processes.clone().acquire_owned()).await;
        waiting.ok().and_then(Result::ok).ok_or(ConnectionError::Busy {
            limit: self.limits.processes,
        })
    }
}

/// Who we say we are: the client itself in a session of its own, where it said so.
fn profile(ours: &ClientProfile, client: Option<ClientContext>) -> ClientProfile {
    let mut profile = ours.clone();
    if let Some(client) = client {
        if let Some(capabilities) = client.capabilities {
            profile.capabilities = capabilities.as_ref().to_owned();
        }
        if let Some(info) = client.info {
            profile.info = info.as_ref().to_owned();
        }
    }
    profile
}
