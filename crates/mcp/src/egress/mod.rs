//! The egress guard: which URLs may be called and which addresses may be connected to.
//!
//! Two roads lead out. The public road takes `https` to public addresses and checks every address a name resolves to
//! at every connect. The registered road takes exactly the URLs an operator has registered, wherever they point.
//! Which road a URL takes is decided by [`Egress::check_url`]; connections of the two roads are never shared.

mod address;
mod refusal;
mod resolver;
mod url_rules;

use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::timeout;
use url::Url;

pub use self::address::{AddressClass, classify};
pub use self::refusal::EgressRefusal;
pub use self::resolver::{FixedNames, Resolver};

/// How long a name may take to resolve at registration.
const RESOLVE_LIMIT: Duration = Duration::from_secs(10);

/// Which way a checked URL leaves the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Road {
    /// Public `https`; every resolved address is checked at connect.
    Public,
    /// An exact URL of the operator; addresses are not restricted.
    Registered,
}

/// A request extension: this request goes to an endpoint that the server at the given URL has named for itself
/// (legacy HTTP+SSE message endpoints). It must have the same origin and takes the same road as that URL.
#[derive(Debug, Clone)]
pub struct EndpointOf(pub Url);

/// The rules for one purpose: public `https`, plus the exact URLs an operator registered for it, which may be replaced at any time.
#[derive(Debug, Default)]
pub struct Egress {
    registered: RwLock<Arc<[Url]>>,
    resolver: Resolver,
}

impl Egress {
    /// Public `https` only, names resolved by the system.
    #[must_use]
    pub fn public() -> Self {
        Self::default()
    }

    /// Adds an exact URL of the operator, which may be `http` and internal. A request matches when scheme, host, port,
    /// path and query are equal after normalisation.
    ///
    /// # Errors
    /// The URL is not `http` or `https`, or carries user info, a fragment or port 0.
    pub fn register(self, url: &str) -> Result<Self, EgressRefusal> {
        let url = url_rules::registrable(url)?;
        let all = self.registered().iter().cloned().chain([url]).collect();
        self.put(all);
        Ok(self)
    }

    /// Replaces the URLs of the operator by these. What is not among them any more is refused from the next request on.
    ///
    /// # Errors
    /// The first that cannot be registered, and why; then all stays as it was.
    pub fn replace<'a>(
        &self,
        urls: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), (String, EgressRefusal)> {
        let read = |url: &'a str| url_rules::registrable(url).map_err(|refusal| (url.to_owned(), refusal));
        self.put(urls.into_iter().map(read).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Replaces the way names are resolved.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Resolver) -> Self {
        self.resolver = resolver;
        self
    }

    /// Reads a URL as a person typed it and checks it. Stricter than parsing: white space, control characters and
    /// backslashes, which URL parsers repair in different ways, are refused.
    ///
    /// # Errors
    /// The text is not a URL, or [`Egress::check_url`] refuses it.
    pub fn admit(&self, text: &str) -> Result<Url, EgressRefusal> {
        let url = url_rules::parse(text)?;
        self.check_url(&url)?;
        Ok(url)
    }

    /// Decides by the URL alone, at registration and before every request. A name passes here and is judged by its
    /// addresses at connect.
    ///
    /// # Errors
    /// The URL is neither registered nor public `https`.
    pub fn check_url(&self, url: &Url) -> Result<Road, EgressRefusal> {
        if self.registered().contains(url) {
            return Ok(Road::Registered);
        }
        url_rules::check_public(url).map(|()| Road::Public)
    }

    /// Decides for an endpoint that the server at `server` has named for itself.
    ///
    /// # Errors
    /// The origins differ, or `server` itself is refused, or `endpoint` is not public where `server` is.
    pub fn check_endpoint(&self, server: &Url, endpoint: &Url) -> Result<Road, EgressRefusal> {
        if server.origin() != endpoint.origin() {
            return Err(EgressRefusal::ForeignOrigin {
                host: url_rules::host_label(endpoint),
            });
        }
        match self.check_url(server)? {
            Road::Registered => url_rules::check_form(endpoint).map(|()| Road::Registered),
            Road::Public => url_rules::check_public(endpoint).map(|()| Road::Public),
        }
    }

    /// Decides for one address a public host has resolved to, before connecting to it.
    ///
    /// # Errors
    /// The address is not public.
    pub fn check_addr(&self, host: &str, address: IpAddr) -> Result<(), EgressRefusal> {
        url_rules::check_address(host, address)
    }

    /// Checks a URL and, on the public road, resolves its host and checks every address. For registration, so that a
    /// person hears at once; it replaces none of the checks at connect.
    ///
    /// # Errors
    /// As [`Egress::check_url`] and [`Egress::check_addr`], or the name does not resolve within 10 s.
    pub async fn check_resolved(&self, url: &Url) -> Result<Road, EgressRefusal> {
        let road = self.check_url(url)?;
        if let (Road::Public, Some(url::Host::Domain(name))) = (road, url.host()) {
            let port = url.port_or_known_default().unwrap_or(443);
            let unresolved = |_| EgressRefusal::Unresolved {
                host: name.to_owned(),
            };
            let looking = timeout(RESOLVE_LIMIT, self.resolver.lookup(name, port));
            let addresses = looking
                .await
                .unwrap_or_else(|late| Err(late.into()))
                .map_err(unresolved)?;
            for address in addresses {
                self.check_addr(name, address.ip())?;
            }
        }
        Ok(road)
    }

    fn registered(&self) -> Arc<[Url]> {
        self.registered
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn put(&self, all: Arc<[Url]>) {
        *self.registered.write().unwrap_or_else(PoisonError::into_inner) = all;
    }

    pub(crate) fn resolver(&self) -> &Resolver {
        &self.resolver
    }
}
