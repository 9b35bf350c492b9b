//! From a URI to a connection: resolve, check every address, connect to a checked one, TLS.

use std::error::Error;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use super::dial::dial;
use super::{ConnectStep, HttpError, Phase};
use crate::egress::{Egress, EgressRefusal, Road};

/// Why no connection came about. Cloned out of the error the pool wraps it in.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum ConnectFailure {
    #[error(transparent)]
    Refused(#[from] EgressRefusal),
    #[error("connecting took too long")]
    TimedOut,
    #[error("{step} failed")]
    Failed {
        step: ConnectStep,
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl ConnectFailure {
    pub(super) fn into_error(self, host: &str) -> HttpError {
        match self {
            Self::Refused(refusal) => HttpError::Egress(refusal),
            Self::TimedOut => HttpError::Timeout {
                phase: Phase::Connect,
                sent: false,
            },
            Self::Failed { step, source } => HttpError::Connect {
                step,
                host: host.to_owned(),
                source,
            },
        }
    }

    fn failed(step: ConnectStep) -> impl Fn(std::io::Error) -> Self {
        move |error| Self::Failed {
            step,
            source: Arc::new(error),
        }
    }
}

type Tcp = TokioIo<TcpStream>;
type Connecting<S> = Pin<Box<dyn Future<Output = Result<S, ConnectFailure>> + Send>>;

/// The connector of one road, limited in time.
#[derive(Clone)]
pub(super) struct Connector {
    tls: HttpsConnector<Guarded>,
    limit: Duration,
}

impl Connector {
    pub(super) fn new(road: Road, egress: Arc<Egress>, tls: ClientConfig, limit: Duration) -> Self {
        let builder = HttpsConnectorBuilder::new().with_tls_config(tls);
        let builder = match road {
            Road::Public => builder.https_only(),
            Road::Registered => builder.https_or_http(),
        };
        let tls = builder
            .enable_all_versions()
            .wrap_connector(Guarded { road, egress });
        Self { tls, limit }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<Tcp>;
    type Error = ConnectFailure;
    type Future = Connecting<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.tls.call(uri);
        let limit = self.limit;
        Box::pin(async move {
            match timeout(limit, connecting).await {
                Err(_) => Err(ConnectFailure::TimedOut),
                Ok(Ok(stream)) => Ok(stream),
                // What is not ours comes from the TLS layer around us.
                Ok(Err(error)) => Err(match error.downcast::<ConnectFailure>() {
                    Ok(failure) => *failure,
                    Err(error) => ConnectFailure::Failed {
                        step: ConnectStep::Tls,
                        source: error.into(),
                    },
                }),
            }
        })
    }
}

/// The TCP connector of one road.
#[derive(Clone)]
struct Guarded {
    road: Road,
    egress: Arc<Egress>,
}

impl Service<Uri> for Guarded {
    type Response = Tcp;
    type Error = ConnectFailure;
    type Future = Connecting<Tcp>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let addresses = this.addresses(&uri).await?;
            let stream = dial(addresses)
                .await
                .map_err(ConnectFailure::failed(ConnectStep::Connect))?;
            Ok(TokioIo::new(stream))
        })
    }
}

impl Guarded {
    /// Every address of the host. On the public road one that is not public refuses the host: a name server that mixes
    /// them is choosing for us.
    async fn addresses(&self, uri: &Uri) -> Result<Vec<SocketAddr>, ConnectFailure> {
        let host = uri.host().ok_or(EgressRefusal::NoHost)?.trim_matches(['[', ']']);
        let port = uri
            .port_u16()
            .unwrap_or(if uri.scheme_str() == Some("http") { 80 } else { 443 });
        let addresses = match host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => self
                .egress
                .resolver()
                .lookup(host, port)
                .await
                .map_err(ConnectFailure::failed(ConnectStep::Resolve))?,
        };
        match self.road {
            Road::Registered => {}
            Road::Public => {
                for address in &addresses {
                    self.egress.check_addr(host, address.ip())?;
                }
            }
        }
        Ok(addresses)
    }
}
