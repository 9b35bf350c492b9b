//! What must hold of every input our parsers are given: one function for each fuzz target. The fuzzer calls it with inputs of its own
//! making, and a test calls it with those that were kept.

mod facts;
mod import;
mod inbound;
mod names;
mod policy;
mod schema;
mod sse;
mod wire;

/// A target: fails (panics) where something does not hold.
pub type Target = fn(&[u8]);

/// The targets that need no more than libraries, by name. `config` is with the program whose configuration it reads.
pub const TARGETS: &[(&str, Target)] = &[
    ("sse", sse::check),
    ("wire", wire::check),
    ("inbound", inbound::check),
    ("schema", schema::check),
    ("names", names::check),
    ("policy", policy::check),
    ("import", import::check),
];

/// Runs one of [`TARGETS`].
///
/// # Panics
///
/// If there is no such target, or something does not hold.
pub fn run(target: &str, input: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    assert!(found.is_some(), "no target {target}");
    found.iter().for_each(|(_, check)| check(input));
}

/// The input in two parts: before and after the first line that is only `---`.
fn halves(text: &str) -> (&str, &str) {
    text.split_once("\n---\n").unwrap_or((text, ""))
}
