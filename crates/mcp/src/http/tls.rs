//! TLS settings: the ring provider, the public authorities and those configured.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

use super::HttpError;

/// A client configuration without ALPN, which the connector adds. Installs no process-wide provider.
pub(super) fn client_config(extra_roots: &[CertificateDer<'static>]) -> Result<ClientConfig, HttpError> {
    let setup = |error: rustls::Error| HttpError::Setup(error.to_string());
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for certificate in extra_roots {
        roots.add(certificate.clone()).map_err(setup)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(setup)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}
