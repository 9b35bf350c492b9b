//! A stdio server that misbehaves as its arguments say.

fn main() {}
