//! Measures what recording costs: CPU per read-only call (decision and outcome), and intents per second and per commit.
//!
//! `cargo run --release -p switchboard-store --example record -- DATABASE`, where DATABASE is a new file or a `postgres://` URL.

use std::time::Instant;

use domain::{
    Actor, AgentId, CallId, Channel, ConnectionId, Digest, Effect, Entry, Epoch, Fact, Outcome, Reason,
    ReasonCode, Risk, Secret, Target, Tenant, Timestamp, ToolRef,
};
use store::{Backend, Options, RootKey, RootKeys, Store};

const CLIENTS: usize = 32;
const CALLS: usize = 2_000;
const INTENTS: usize = 100;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "its output is what it is for")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(database) = std::env::args().nth(1) else {
        return Err("name a new file or a postgres:// URL".into());
    };
    let backend = if database.starts_with("postgres://") {
        Backend::Postgres {
            url: Secret::new(database),
            max_connections: 8,
        }
    } else {
        Backend::Sqlite {
            path: database.into(),
        }
    };
    let mut options = Options::new(backend, RootKeys::only(RootKey::generate()?));
    // The chain is made afterwards here, to tell its cost apart.
    options.journal.chain_within = std::time::Duration::from_secs(3600);
    let store = Store::open(options).await?;
    let tenant = store.bootstrap().await?.tenant;

    let (cpu, began) = (cpu_us()?, Instant::now());
    run(|| read_calls(store.clone(), tenant)).await;
    let calls = CLIENTS * CALLS;
    let (spent, took) = (cpu_us()? - cpu, began.elapsed());
    let counts = store.writer_counts();
    println!(
        "read-only: {calls} calls, {:.0}/s, {:.1} us CPU per call, {:.1} entries per commit",
        calls as f64 / took.as_secs_f64(),
        spent / calls as f64,
        counts.entries as f64 / counts.commits as f64
    );

    let epoch = store.epoch(tenant).await?;
    let (before, began) = (store.writer_counts(), Instant::now());
    run(|| intents(store.clone(), tenant, epoch)).await;
    let (after, took) = (store.writer_counts(), began.elapsed());
    println!(
        "intents: {:.0}/s, {:.1} per commit",
        (CLIENTS * INTENTS) as f64 / took.as_secs_f64(),
        (after.intents - before.intents) as f64 / (after.commits - before.commits) as f64
    );
    let cpu = cpu_us()?;
    let linked = store.chain_once().await?;
    println!(
        "chaining: {linked} entries, {:.1} us CPU per entry",
        (cpu_us()? - cpu) / linked as f64
    );
    let cpu = cpu_us()?;
    let found = store.verify(tenant, None, |_| {}).await?;
    println!(
        "verifying: {} entries, {:.1} us CPU per entry",
        found.entries,
        (cpu_us()? - cpu) / found.entries as f64
    );
    store.close().await;
    Ok(())
}

async fn run<F: Future<Output = ()> + Send + 'static>(client: impl Fn() -> F) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        tasks.spawn(client());
    }
    tasks.join_all().await;
}

async fn read_calls(store: Store, tenant: Tenant) {
    for _ in 0..CALLS {
        let entry = decided(Effect::ReadOnly);
        let call = entry.call;
        let (Ok(decision), Ok(outcome)) = (store.record(tenant, entry), store.record(tenant, ended(call)))
        else {
            return;
        };
        if decision.written().await.is_err() || outcome.written().await.is_err() {
            return;
        }
    }
}

async fn intents(store: Store, tenant: Tenant, epoch: Epoch) {
    for _ in 0..INTENTS {
        if store
            .begin_intent(tenant, decided(Effect::Mutating), epoch, None)
            .await
            .is_err()
        {
            return;
        }
    }
}

fn actor() -> Actor {
    Actor {
        kind: "agent_key".into(),
        id: CallId::generate().to_string().into(),
        agent: Some(AgentId::generate()),
    }
}

fn decided(effect: Effect) -> Entry {
    Entry {
        call: CallId::generate(),
        actor: actor(),
        at: Timestamp::from_micros(1),
        fact: Fact::Decided {
            target: Target::Tool(ToolRef::Upstream {
                connection: ConnectionId::generate(),
                name: "read_file".into(),
            }),
            exposed: "files__read_file".into(),
            channel: Channel::Mcp,
            surface: None,
            run: None,
            arguments: Digest::from_bytes([1; 32]),
            definition: Digest::from_bytes([2; 32]),
            snapshot: Some(Digest::from_bytes([3; 32])),
            decision: "allow".into(),
            reason: Reason::new(ReasonCode::GrantAllows),
            risk: Risk::Low,
            effect,
            approval: None,
            epoch: Epoch(1),
        },
    }
}

fn ended(call: CallId) -> Entry {
    let fact = Fact::Ended {
        outcome: Outcome::SUCCEEDED,
        duration_us: 900,
        result: Some(Digest::from_bytes([4; 32])),
    };
    Entry {
        call,
        actor: actor(),
        at: Timestamp::from_micros(2),
        fact,
    }
}

/// CPU time of this process so far, in microseconds, from Linux's accounting in hundredths of a second.
fn cpu_us() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no accounting")?;
    let ticks: f64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    Ok(ticks * 10_000.0)
}
