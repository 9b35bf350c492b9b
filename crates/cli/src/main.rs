//! The binary `switchboard`.
fn main() {}
