//! Many mixed hostile calls: what the process holds afterwards is what it held before.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures::StreamExt as _;

use super::bench::{Bench, Case, End, limits, seen};
use super::counts::{memory, settled};
use super::{answers, bodies, opening, statuses};

/// Calls under way at once.
const AT_ONCE: usize = 16;

/// Every so-manieth behaviour.
fn cases(every: usize) -> Vec<Case> {
    let mut statuses = statuses::statuses();
    statuses.retain(|case| case.name.contains("at Call") || case.name.contains("at Opening"));
    let all = [answers::all(), bodies::bodies(), opening::openings(), statuses];
    all.into_iter().flatten().step_by(every).collect()
}

/// The same mixture at every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

async fn round(bench: &Bench<'_>, calls: usize, dice: &mut Dice) -> (usize, usize) {
    let chosen: Vec<(usize, bool)> = (0..calls)
        .map(|_| (dice.roll(bench.subjects.len()), dice.roll(2) == 0))
        .collect();
    let answered = AtomicUsize::new(0);
    let failed = AtomicUsize::new(0);
    futures::stream::iter(chosen)
        .for_each_concurrent(AT_ONCE, |(at, act)| {
            let (subject, answered, failed) = (&bench.subjects[at], &answered, &failed);
            async move {
                if subject.case.opens {
                    bench.house.connections.changed(subject.id);
                }
                let tool = if act { "act" } else { "look" };
                let answer = bench.beside_a_healthy_call(&subject.namespace, tool).await;
                // Whatever it is, it is an answer.
                let (_, code): End = seen(&answer);
                let count = if code.is_none() { answered } else { failed };
                count.fetch_add(1, Ordering::Relaxed);
            }
        })
        .await;
    (answered.into_inner(), failed.into_inner())
}

/// Makes so many hostile calls in rounds of a third each.
async fn soak(calls: usize, every: usize, spare: u64) {
    let cases = cases(every);
    let mut bench = Bench::empty(limits()).await;
    for _ in 0..50 {
        bench.client.call("healthy__act").await;
    }
    let mut before = settled().await;
    let highest = AtomicU64::new(0);
    let mut dice = Dice(20_261_130);
    let (mut answered, mut failed) = (0, 0);
    for third in 0..3 {
        bench.connect(&cases).await;
        let ids: Vec<_> = bench.subjects.iter().map(|subject| subject.id).collect();
        assert_eq!(bench.house.prepare_all(&ids).await, []);
        bench.open_to_all().await;
        for subject in &bench.subjects {
            subject.hostile.misbehave(true).unwrap();
        }
        let (a, f) = round(&bench, calls / 3, &mut dice).await;
        (answered, failed) = (answered + a, failed + f);
        bench.clear().await;
        if third == 0 {
            // The store opens its readers as they are needed: what is held is counted once they are.
            before = settled().await;
        }
        let after = before.are_restored().await;
        let now = memory();
        println!("{answered} answered, {failed} failed; before {before:?}, after {after:?}; {now} KiB");
        match third {
            0 => highest.store(now, Ordering::Relaxed),
            _ => assert!(
                now <= highest.load(Ordering::Relaxed) + spare,
                "{now} KiB after, {highest:?} KiB after the first third"
            ),
        }
    }
    assert_eq!(bench.unharmed.load(Ordering::Relaxed), answered + failed);
    assert_eq!(answered + failed, calls / 3 * 3);
    assert_eq!(
        bench.client.call("healthy__act").await["error"],
        serde_json::Value::Null
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_hostile_calls_leave_nothing() {
    soak(300, 9, 96 * 1024).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "soak"]
async fn soak_hostile() {
    soak(10_000, 1, 96 * 1024).await;
}
