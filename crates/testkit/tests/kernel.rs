//! The kernel with real parts around it.

#[cfg(test)]
#[path = "suite/kernel/mod.rs"]
mod kernel;
