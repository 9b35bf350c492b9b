//! The kernel with real parts around it: a store, the policy, every capability, and upstream servers over loopback.

mod admission;
mod approvals;
mod arguments;
mod built_in;
mod cancelling;
mod context;
mod failures;
mod front;
mod house;
mod idempotency;
mod intents;
mod names;
mod one_entry;
mod operators;
mod pins;
mod platform;
mod postgres;
mod presets;
mod registry;
mod skills;
mod stdio;
mod stopping;
mod taking_away;
mod upstream;
mod waves;

/// Declares tests that run on both databases.
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::kernel::house::Bench::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::kernel::postgres::run(super::$name).await;
            })*
        }
    };
}
pub(crate) use both;
