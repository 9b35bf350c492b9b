//! What happened: activity for users, the chained record for auditors.

mod activity;
mod audit;

use gateway::Capability;

pub(crate) fn capabilities() -> Vec<Capability> {
    let mut all = activity::capabilities();
    all.extend(audit::capabilities());
    all
}
