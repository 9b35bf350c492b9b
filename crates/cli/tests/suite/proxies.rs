//! Proxies named in the environment: a tool's server is never asked through one, because the guard judges addresses that a proxy would
//! choose anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::{TcpListener, TcpStream};

use crate::scene::Scene;

const NAMES: [&str; 8] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

#[tokio::test]
async fn no_proxy_of_the_environment_is_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let knocks = Arc::new(AtomicUsize::new(0));
    let counted = knocks.clone();
    let trap = tokio::spawn(async move {
        loop {
            let _held = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let environment = NAMES.map(|name| {
        let value = if name.eq_ignore_ascii_case("no_proxy") {
            String::new()
        } else {
            format!("http://{at}")
        };
        (name.to_owned(), value)
    });
    let scene = Scene::start_in_environment(environment.to_vec()).await;
    scene.call_well("up__read").await;
    scene.call_well("up__write").await;
    // A name that does not exist is asked of the resolver here, not of the proxy.
    let line = [
        "connections",
        "add",
        "--label",
        "outside",
        "--url",
        "https://switchboard.invalid/mcp",
    ];
    let said = scene.house.run(&line);
    assert!(
        said.code != 0 && said.err.contains("does not resolve"),
        "{said:?}"
    );
    assert_eq!(knocks.load(Ordering::SeqCst), 0, "a proxy was asked");
    // The trap counts.
    let _knock = TcpStream::connect(at).await.unwrap();
    while knocks.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    trap.abort();
}
