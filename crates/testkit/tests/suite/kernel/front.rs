//! A server on loopback under a public name, over TLS, for what is bound to exact public URLs.

use std::net::SocketAddr;
use std::sync::Arc;

use mcp::egress::{FixedNames, Resolver};
use mcp::http::CertificateDer;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Takes TLS connections for a name and hands what they carry to a plain server. Ends with the test.
pub(crate) struct Front {
    name: &'static str,
    address: SocketAddr,
    pub(crate) root: CertificateDer<'static>,
    _tasks: JoinSet<()>,
}

impl Front {
    pub(crate) async fn of(name: &'static str, plain: SocketAddr) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let root = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![root.clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                connections.spawn(async move {
                    let Ok(mut outer) = acceptor.accept(stream).await else {
                        return;
                    };
                    let mut inner = TcpStream::connect(plain).await.unwrap();
                    // Whoever ends it, it is over.
                    copy_bidirectional(&mut outer, &mut inner).await.ok();
                });
            }
        });
        Self {
            name,
            address,
            root,
            _tasks: tasks,
        }
    }

    /// A resolver that knows the name, and no other.
    pub(crate) fn resolver(&self) -> Resolver {
        let names = FixedNames::default().mapped(self.name, self.address);
        Resolver::Fixed(Arc::new(names))
    }
}
