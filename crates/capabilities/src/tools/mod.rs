//! Tools: what there is, how an agent sees it, what a person says about it, and calling one.

mod call;
mod classify;
mod explain;
mod list;

pub(crate) use list::shown;

use gateway::Capability;

pub(crate) fn capabilities() -> Vec<Capability> {
    vec![
        list::capability(),
        classify::capability(),
        call::capability(),
        explain::capability(),
    ]
}
