//! Clocks that jump: what was cut off is known by its place, not by its time, and the chain goes on.

use std::sync::Arc;
use std::time::Duration;

use domain::{CallStatus, Effect, Timestamp};

use crate::harness::{Bench, START, both, decided, write};

both!(
    calls_before_a_start_are_unknown_whatever_the_clock_said,
    the_chain_goes_on_after_the_clock_was_set_back
);

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

fn earlier(by: Duration) -> Timestamp {
    Timestamp::from_micros(START.micros() - i64::try_from(by.as_micros()).unwrap())
}

async fn calls_before_a_start_are_unknown_whatever_the_clock_said(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let before = decided("read", "allow", Effect::ReadOnly);
    write(&store, tenant, &before).await;
    for jump in [earlier(HOUR), START.plus(DAY), earlier(DAY)] {
        bench.clock.set(jump);
        // Under way, whatever the clock says.
        let now = decided("read", "allow", Effect::ReadOnly);
        write(&store, tenant, &now).await;
        let item = store.activity(tenant, now.call).await.unwrap().unwrap();
        assert_eq!(item.status, CallStatus::Started, "{jump:?}");
    }
    store.close().await;
    for jump in [earlier(HOUR), START.plus(DAY)] {
        bench.clock.set(jump);
        let store = bench.open().await;
        let item = store.activity(tenant, before.call).await.unwrap().unwrap();
        assert_eq!(item.status, CallStatus::Unknown, "{jump:?}");
        let now = decided("read", "allow", Effect::ReadOnly);
        write(&store, tenant, &now).await;
        let item = store.activity(tenant, now.call).await.unwrap().unwrap();
        assert_eq!(item.status, CallStatus::Started, "{jump:?}");
        store.close().await;
    }
}

async fn the_chain_goes_on_after_the_clock_was_set_back(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    write(&store, tenant, &decided("read", "allow", Effect::ReadOnly)).await;
    assert!(store.chain_once().await.unwrap() > 0);
    store.close().await;
    // Whoever held the lease is gone, and the database's clock was an hour ahead.
    bench
        .tamper("UPDATE leases SET expires_at = expires_at + 3600000000")
        .await;
    let store = bench.open().await;
    write(&store, tenant, &decided("read", "allow", Effect::ReadOnly)).await;
    assert!(store.chain_once().await.unwrap() > 0);
    let found = store.verify(tenant, None, |_| {}).await.unwrap();
    assert_eq!((found.first_bad, found.unchained_tail), (None, 0));
    store.close().await;
}
