//! The calls of one model response: readings in waves of eight, the rest one by one, an answer for every call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::{CallStatus, Status};
use gateway::{Rejections, ToolReply, ToolRequest};
use serde_json::{Value, json};
use testkit::scripted::{Received, Reply};
use tokio_util::sync::CancellationToken;

use super::both;
use super::house::{Bench, House, code, request, result};
use super::upstream::{Upstream, echo, hinted, tool};

both!(
    readings_run_in_waves_of_eight_and_answer_in_order,
    acts_run_one_by_one,
    a_servers_own_word_makes_waves_but_no_readings,
    an_act_between_readings_waits_for_them,
    after_a_misfit_later_calls_of_that_tool_are_not_sent,
    after_a_rejection_later_waves_of_that_tool_are_skipped,
    a_rejected_request_is_not_repeated,
    every_call_has_its_answer,
);

/// An upstream that holds its `n`th call (arguments `{"n": n}`) until the `n`th gate opens, and notes when a call came although
/// `early` says that it should not have.
struct Gated {
    upstream: Upstream,
    gates: Arc<Vec<CancellationToken>>,
    too_early: Arc<AtomicBool>,
}

impl Gated {
    async fn start(
        tools: Vec<Value>,
        count: usize,
        early: impl Fn(usize, &[CancellationToken]) -> bool + Send + Sync + 'static,
    ) -> Self {
        let gates: Arc<Vec<CancellationToken>> =
            Arc::new((0..count).map(|_| CancellationToken::new()).collect());
        let too_early = Arc::new(AtomicBool::new(false));
        let (holding, noting) = (gates.clone(), too_early.clone());
        let upstream = Upstream::answering(tools, move |request| {
            let n = usize::try_from(request.json()["params"]["arguments"]["n"].as_u64().unwrap()).unwrap();
            if early(n, &holding) {
                noting.store(true, Ordering::SeqCst);
            }
            echo(request).after(holding[n].clone())
        })
        .await;
        Self {
            upstream,
            gates,
            too_early,
        }
    }

    fn open(&self, gates: impl Iterator<Item = usize>) {
        gates.for_each(|n| self.gates[n].cancel());
    }
}

fn numbered(names: &[&str]) -> Vec<ToolRequest> {
    names
        .iter()
        .enumerate()
        .map(|(n, name)| request(name, &json!({ "n": n })))
        .collect()
}

/// Starts a response's calls in a task of its own.
fn respond(house: &House, requests: Vec<ToolRequest>) -> tokio::task::JoinHandle<Vec<ToolReply>> {
    let (gateway, view) = (house.gateway.clone(), house.view());
    tokio::spawn(async move {
        gateway
            .call_all(&view, requests, &mut Rejections::default())
            .await
    })
}

fn assert_in_order(replies: &[ToolReply]) {
    for (n, reply) in replies.iter().enumerate() {
        assert_eq!(result(reply)["structuredContent"]["echo"], json!({ "n": n }));
    }
}

// V167, V169
async fn readings_run_in_waves_of_eight_and_answer_in_order(bench: Bench) {
    // A call of a later wave comes too early while one of the wave before is held.
    let early = |n: usize, gates: &[CancellationToken]| {
        n >= 8 && gates[..n / 8 * 8].iter().any(|g| !g.is_cancelled())
    };
    let gated = Gated::start(vec![tool("look")], 20, early).await;
    let house = House::with(bench, &[&gated.upstream]).await;
    house.connect("files", &gated.upstream).await;
    house.reading("files/look").await;
    let replies = respond(&house, numbered(&["files__look"; 20]));
    // All of a wave are under way at once: none is answered before all have come. They are answered last first.
    for wave in [0..8, 8..16, 16..20] {
        gated.upstream.wait_for_calls(wave.end).await;
        gated.open(wave.rev());
    }
    let replies = replies.await.unwrap();
    assert_eq!(replies.len(), 20);
    assert_in_order(&replies);
    assert!(!gated.too_early.load(Ordering::SeqCst));
    house.verify().await;
}

// V168
async fn acts_run_one_by_one(bench: Bench) {
    let early = |n: usize, gates: &[CancellationToken]| n > 0 && !gates[n - 1].is_cancelled();
    let gated = Gated::start(vec![tool("move"), tool("unknown")], 4, early).await;
    let house = House::with(bench, &[&gated.upstream]).await;
    house.connect("files", &gated.upstream).await;
    house.changing("files/move").await;
    house.grant("files/unknown", "unattended").await;
    let replies = respond(
        &house,
        numbered(&["files__move", "files__move", "files__unknown", "files__unknown"]),
    );
    for n in 0..4 {
        gated.upstream.wait_for_calls(n + 1).await;
        gated.open(std::iter::once(n));
    }
    assert_in_order(&replies.await.unwrap());
    assert!(!gated.too_early.load(Ordering::SeqCst));
    house.verify().await;
}

// V167, O042
async fn a_servers_own_word_makes_waves_but_no_readings(bench: Bench) {
    let gated = Gated::start(vec![hinted("look")], 8, |_, _| false).await;
    let house = House::with(bench, &[&gated.upstream]).await;
    house.connect("files", &gated.upstream).await;
    house.grant("files/look", "unattended").await;
    let before = house.store.writer_counts().intents;
    let replies = respond(&house, numbered(&["files__look"; 8]));
    gated.upstream.wait_for_calls(8).await;
    // Side by side, and each with an intent.
    assert_eq!(house.store.writer_counts().intents - before, 8);
    gated.open(0..8);
    assert_in_order(&replies.await.unwrap());
    house.verify().await;
}

// V167, V168
async fn an_act_between_readings_waits_for_them(bench: Bench) {
    // 0 and 1 read, 2 acts, 3 and 4 read.
    let early = |n: usize, gates: &[CancellationToken]| {
        let before = match n {
            0 | 1 => 0,
            2 => 2,
            _ => 3,
        };
        gates[..before].iter().any(|g| !g.is_cancelled())
    };
    let gated = Gated::start(vec![tool("look"), tool("move")], 5, early).await;
    let house = House::with(bench, &[&gated.upstream]).await;
    house.connect("files", &gated.upstream).await;
    house.reading("files/look").await;
    house.changing("files/move").await;
    let names = [
        "files__look",
        "files__look",
        "files__move",
        "files__look",
        "files__look",
    ];
    let replies = respond(&house, numbered(&names));
    for wave in [0..2, 2..3, 3..5] {
        gated.upstream.wait_for_calls(wave.end).await;
        gated.open(wave);
    }
    assert_in_order(&replies.await.unwrap());
    assert!(!gated.too_early.load(Ordering::SeqCst));
    house.verify().await;
}

/// A tool whose argument `n` must be a number; `{"n": -1}` fits and is rejected by the server.
fn strict(name: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    json!({ "name": name, "inputSchema": schema })
}

fn picky(request: &Received) -> Reply {
    if request.json()["params"]["arguments"]["n"] == -1 {
        Reply::status(422)
    } else {
        echo(request)
    }
}

async fn picky_house(bench: Bench) -> (House, Upstream) {
    let upstream = Upstream::answering(vec![strict("look"), strict("see")], picky).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    house.reading("files/see").await;
    (house, upstream)
}

fn codes(replies: &[ToolReply]) -> Vec<&'static str> {
    replies.iter().map(code).collect()
}

// V170
async fn after_a_misfit_later_calls_of_that_tool_are_not_sent(bench: Bench) {
    let (house, upstream) = picky_house(bench).await;
    let requests = vec![
        request("files__look", &json!({ "n": 0 })),
        request("files__look", &json!({ "n": "zero" })),
        request("files__look", &json!({ "n": 2 })),
        request("files__see", &json!({ "n": 3 })),
        request("files__look", &json!({ "n": "four" })),
    ];
    let mut rejections = Rejections::default();
    let replies = house
        .gateway
        .call_all(&house.view(), requests, &mut rejections)
        .await;
    let expected = [
        "",
        "invalid_arguments",
        "skipped_after_failure",
        "",
        "skipped_after_failure",
    ];
    assert_eq!(codes(&replies), expected);
    let mut sent = upstream.arguments();
    sent.sort_by_key(|arguments| arguments["n"].as_i64());
    assert_eq!(sent, [json!({ "n": 0 }), json!({ "n": 3 })]);
    // Each stands in the record, the skipped ones too.
    for reply in &replies {
        let failed = reply.outcome.status == Status::Failed;
        assert_eq!(
            house.item(reply.call).await.status,
            if failed {
                CallStatus::Failed
            } else {
                CallStatus::Succeeded
            }
        );
    }
    // The next response starts anew.
    let again = vec![request("files__look", &json!({ "n": 2 }))];
    assert_eq!(
        codes(
            &house
                .gateway
                .call_all(&house.view(), again, &mut rejections)
                .await
        ),
        [""]
    );
    house.verify().await;
}

// V171, V172
async fn after_a_rejection_later_waves_of_that_tool_are_skipped(bench: Bench) {
    let (house, upstream) = picky_house(bench).await;
    let mut requests: Vec<ToolRequest> = (0..8)
        .map(|n| request("files__look", &json!({ "n": n })))
        .collect();
    requests[2] = request("files__look", &json!({ "n": -1 }));
    requests.extend((8..12).map(|n| request("files__look", &json!({ "n": n }))));
    requests.push(request("files__see", &json!({ "n": 12 })));
    let replies = house
        .gateway
        .call_all(&house.view(), requests, &mut Rejections::default())
        .await;
    let mut expected = vec![""; 13];
    expected[2] = "arguments_rejected";
    expected[8..12].fill("skipped_after_failure");
    assert_eq!(codes(&replies), expected);
    assert_eq!(
        upstream.calls().len(),
        9,
        "the wave finished, and the other tool was called"
    );
    house.verify().await;
}

// V173
async fn a_rejected_request_is_not_repeated(bench: Bench) {
    let (house, upstream) = picky_house(bench).await;
    let mut rejections = Rejections::default();
    let rounds = [
        (json!({ "n": -1, "why": "first" }), "arguments_rejected", 1),
        (json!({ "why": "first", "n": -1 }), "repeated_rejection", 1),
        (json!({ "n": 1, "why": "first" }), "", 2),
        (json!({ "n": -1, "why": "other" }), "arguments_rejected", 3),
        (json!({ "n": -1, "why": "first" }), "repeated_rejection", 3),
    ];
    for (arguments, expected, sent) in rounds {
        let round = vec![request("files__look", &arguments)];
        let replies = house
            .gateway
            .call_all(&house.view(), round, &mut rejections)
            .await;
        assert_eq!(
            (codes(&replies), upstream.calls().len()),
            (vec![expected], sent),
            "{arguments}"
        );
    }
    // Another run knows nothing of it.
    let round = vec![request("files__look", &json!({ "n": -1, "why": "first" }))];
    let replies = house
        .gateway
        .call_all(&house.view(), round, &mut Rejections::default())
        .await;
    assert_eq!(codes(&replies), ["arguments_rejected"]);
    house.verify().await;
}

// V172
async fn every_call_has_its_answer(bench: Bench) {
    let (house, upstream) = picky_house(bench).await;
    house.grant("current_time", "allow").await;
    house.grant("files/see", "ask").await;
    let requests = vec![
        request("files__look", &json!({ "n": 0 })),
        request("nothing", &json!({})),
        request("files__see", &json!({ "n": 1 })),
        request("current_time", &json!({})),
        request("files__look", &json!([])),
        request("files__look", &json!({ "n": 2 })),
        request("current_time", &json!({ "time_zone": "Mars/Olympus" })),
    ];
    let replies = house
        .gateway
        .call_all(&house.view(), requests, &mut Rejections::default())
        .await;
    let expected = [
        "",
        "denied",
        "approval_required",
        "",
        "invalid_arguments",
        "skipped_after_failure",
        "tool_error",
    ];
    assert_eq!(codes(&replies), expected);
    let mut calls: Vec<_> = replies.iter().map(|reply| reply.call).collect();
    calls.sort_unstable();
    calls.dedup();
    assert_eq!(calls.len(), replies.len());
    assert_eq!(upstream.arguments(), [json!({ "n": 0 })]);
    assert!(
        house
            .gateway
            .call_all(&house.view(), Vec::new(), &mut Rejections::default())
            .await
            .is_empty()
    );
    house.verify().await;
}
