//! A door for clients that know no keys: passes every request on with one.

use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use super::House;
use crate::loopback::Loopback;

/// A door to a house. Dropping it closes it.
#[derive(Debug)]
pub struct Front {
    /// Where it is, without a slash at the end.
    pub url: String,
    _loopback: Loopback,
}

impl House {
    /// Opens a door whose requests carry this key.
    ///
    /// # Panics
    ///
    /// If no port can be had.
    #[expect(clippy::unwrap_used, reason = "a test that cannot open its door has failed")]
    pub async fn front(&self, key: &str) -> Front {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let inside = self.url.strip_prefix("http://").unwrap().to_owned();
        let bearer: http::HeaderValue = format!("Bearer {key}").parse().unwrap();
        let loopback = Loopback::start(0, move |mut request| {
            let mut target = request.uri().clone().into_parts();
            target.scheme = Some(http::uri::Scheme::HTTP);
            target.authority = inside.parse().ok();
            *request.uri_mut() = http::Uri::from_parts(target).unwrap_or_default();
            request
                .headers_mut()
                .insert(http::header::AUTHORIZATION, bearer.clone());
            let client = client.clone();
            async move { client.request(request).await }
        })
        .await
        .unwrap();
        Front {
            url: format!("http://{}", loopback.address()),
            _loopback: loopback,
        }
    }
}
