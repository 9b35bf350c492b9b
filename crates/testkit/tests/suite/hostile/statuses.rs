//! Every status at every step, with and without a body and `Retry-After`, and every redirect.

use std::sync::Arc;

use domain::{Health, OutcomeCode};
use serde_json::json;
use testkit::hostile::{Plan, Script};
use testkit::scripted::{Received, Reply, Scripted};

use super::bench::{ANSWERED, Bench, Case, Ends, HTTP, REFUSED, UNREACHED, failed};

const STATUSES: [u16; 8] = [401, 403, 404, 410, 429, 500, 502, 503];

/// The steps of a session's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Opening,
    Initialized,
    List,
    Call,
}

impl At {
    fn is(self, request: &Received) -> bool {
        let method = request.rpc_method();
        match (self, method.as_deref()) {
            (Self::Opening, Some("initialize" | "server/discover"))
            | (Self::Initialized, Some("notifications/initialized"))
            | (Self::List, Some("tools/list"))
            | (Self::Call, Some("tools/call")) => true,
            // The stream of HTTP with SSE is where its sessions are opened.
            (Self::Opening, None) => request.method == http::Method::GET,
            _ => false,
        }
    }
}

fn reply(status: u16, dressed: bool) -> Reply {
    if dressed {
        Reply::json(
            status,
            &json!({ "error": "not today", "detail": "x".repeat(5_000) }),
        )
        .header("retry-after", "7")
        .header("www-authenticate", "Bearer realm=\"upstream\"")
    } else {
        Reply::status(status)
    }
}

fn case(at: At, name: String, answer: impl Fn() -> Reply + Send + Sync + 'static, ends: Ends) -> Case {
    let http = move |request: &Received| at.is(request).then(&answer);
    let plan = Plan {
        script: Script::default(),
        http: Some(Arc::new(http)),
    };
    let case = Case::new(name, plan, ends).over(HTTP);
    match at {
        At::Opening | At::Initialized => case.opening(),
        At::List | At::Call => case,
    }
}

/// What a test of the connection finds.
fn health(at: At, status: u16) -> Option<Health> {
    match (at, status) {
        (At::Initialized | At::Call, _) => None,
        (_, 401 | 403) => Some(Health::AuthRejected),
        (_, 429) => Some(Health::RateLimited),
        (_, 500..) => Some(Health::Unreachable),
        _ => Some(Health::Protocol),
    }
}

fn ends(at: At, status: u16) -> Ends {
    use OutcomeCode as Code;
    match (at, status) {
        (At::Initialized | At::List, _) => ANSWERED,
        (_, 401 | 403) => Ends::both(failed(Code::AuthRejected)),
        (_, 429) => Ends::both(failed(Code::RateLimited)),
        (At::Opening, _) => UNREACHED,
        (At::Call, 502) => super::bench::LOST,
        (At::Call, _) => REFUSED,
    }
}

pub(super) fn statuses() -> Vec<Case> {
    let mut cases = Vec::new();
    for at in [At::Opening, At::Initialized, At::List, At::Call] {
        for status in STATUSES {
            for dressed in [false, true] {
                let name = format!("{status} at {at:?}{}", if dressed { " with a body" } else { "" });
                let mut case = case(at, name, move || reply(status, dressed), ends(at, status));
                case.health = health(at, status);
                cases.push(match (at, status, dressed) {
                    (At::Call, 429, true) => case.saying(r#""retry_after_s":7"#),
                    _ => case,
                });
            }
        }
    }
    cases
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_status_at_every_step() {
    let cases = statuses();
    let bench = Bench::start(&cases).await;
    bench.check_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_lead_nowhere() {
    let trap = Scripted::start(Reply::legacy).await.unwrap();
    let mut cases = Vec::new();
    for status in [301, 302, 303, 307, 308] {
        for at in [At::Opening, At::Initialized, At::Call] {
            let to = trap.url().to_owned();
            let ends = match at {
                At::Opening => UNREACHED,
                At::Initialized | At::List => ANSWERED,
                At::Call => REFUSED,
            };
            let answer = move || Reply::status(status).header("location", &to);
            let mut case = case(at, format!("{status} at {at:?}"), answer, ends);
            case.health = (at == At::Opening).then_some(Health::EgressRefused);
            cases.push(case);
        }
    }
    let bench = Bench::start(&cases).await;
    bench.check_all().await;
    assert!(trap.received().is_empty(), "a redirect was followed");
}
