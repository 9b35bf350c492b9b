//! Nothing that the guard refuses is reached: the real client, real sockets on loopback that count who knocks, and name servers that
//! say anything.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use mcp::egress::{AddressClass, Egress, FixedNames, Resolver};
use mcp::http::{ConnectStep, HttpClient, HttpError, HttpOptions};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;
use url::Url;

use crate::egress::{ADDRESSES, URLS};

const PUBLIC: &str = "1.1.1.1";

/// Sockets on one port of both loopback addresses. Whatever connects is counted.
struct Traps {
    port: u16,
    knocks: Arc<AtomicUsize>,
    at: Vec<SocketAddr>,
    _tasks: JoinSet<()>,
}

impl Traps {
    async fn set() -> Self {
        let first = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = first.local_addr().unwrap().port();
        // A machine without IPv6, or with the port taken there, has one trap.
        let second = TcpListener::bind(("::1", port)).await.ok();
        let knocks = Arc::new(AtomicUsize::new(0));
        let (mut tasks, mut at) = (JoinSet::new(), Vec::new());
        for listener in [Some(first), second].into_iter().flatten() {
            at.push(listener.local_addr().unwrap());
            let knocks = knocks.clone();
            tasks.spawn(async move {
                loop {
                    let _held = listener.accept().await.unwrap();
                    knocks.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        Self {
            port,
            knocks,
            at,
            _tasks: tasks,
        }
    }

    /// Nobody came but those who come now, one to each trap, which shows that they count.
    async fn hold(self) {
        let mut held = Vec::new();
        for at in &self.at {
            held.push(TcpStream::connect(at).await.unwrap());
        }
        let until = Instant::now() + Duration::from_secs(20);
        while self.knocks.load(Ordering::SeqCst) < held.len() {
            assert!(Instant::now() < until, "a trap does not count");
            tokio::task::yield_now().await;
        }
        assert_eq!(
            self.knocks.load(Ordering::SeqCst),
            held.len(),
            "something was reached"
        );
    }
}

fn client(names: FixedNames) -> HttpClient {
    let egress = Egress::public().with_resolver(Resolver::Fixed(Arc::new(names)));
    HttpClient::new(HttpOptions {
        egress: Arc::new(egress),
        ..HttpOptions::default()
    })
    .unwrap()
}

/// What the client says to a URL it should refuse: the code, and that it sent nothing.
async fn refusal(client: &HttpClient, url: &str) -> String {
    let Ok(request) = Request::post(url).body(Bytes::from_static(b"{}")) else {
        return "egress.invalid_url".to_owned();
    };
    let soon = Instant::now() + Duration::from_secs(20);
    let error = client.send(request, soon).await.unwrap_err();
    assert!(!error.sent(), "{url}: {error:?}");
    match error {
        HttpError::Egress(refusal) => refusal.code().to_owned(),
        HttpError::Request(_) => "egress.invalid_url".to_owned(),
        // Only its spelling was refused, which is made good by now; no name resolves here.
        HttpError::Connect {
            step: ConnectStep::Resolve,
            ..
        } => "spelling".to_owned(),
        other => panic!("{url}: {other:?}"),
    }
}

/// Every URL that is refused, put to the client without the check that a person's input goes through first, at the port of the traps
/// where it names none.
#[tokio::test]
async fn no_refused_url_reaches_anything() {
    let traps = Traps::set().await;
    let client = client(FixedNames::default());
    let mut tried = 0;
    for (text, expected) in URLS {
        if matches!(*expected, "public" | "registered") {
            continue;
        }
        tried += 1;
        let mut url = Url::parse(text).ok();
        if let Some(url) = &mut url
            && url.port().is_none()
        {
            // Not every scheme has ports.
            url.set_port(Some(traps.port)).ok();
        }
        let said = refusal(&client, url.as_ref().map_or(*text, Url::as_str)).await;
        let form = matches!(*expected, "egress.invalid_url" | "egress.fragment");
        assert!(said != "spelling" || form, "{text}: {said}");
    }
    assert!(tried > 120, "{tried}");
    traps.hold().await;
}

/// Names whose answers hold an address that is not public: as the only answer, before and after a public one, and where the name was
/// public when it was checked.
#[tokio::test]
async fn no_answer_of_a_name_server_reaches_anything() {
    let traps = Traps::set().await;
    let public: IpAddr = PUBLIC.parse().unwrap();
    let mut cases = 0;
    for (text, class) in ADDRESSES {
        if *class == AddressClass::Public {
            continue;
        }
        let address: IpAddr = text.parse().unwrap();
        let client = client(FixedNames::new([
            ("only.example", vec![vec![address]]),
            ("first.example", vec![vec![address, public]]),
            ("last.example", vec![vec![public, public, address]]),
            ("later.example", vec![vec![public], vec![address]]),
        ]));
        let later = Url::parse("https://later.example/").unwrap();
        client.egress().check_resolved(&later).await.unwrap();
        for host in ["only", "first", "last", "later"] {
            cases += 1;
            let url = format!("https://{host}.example:{}/mcp", traps.port);
            assert_eq!(refusal(&client, &url).await, "egress.address", "{host}: {text}");
        }
    }
    assert!(cases > 200, "{cases}");
    traps.hold().await;
}
