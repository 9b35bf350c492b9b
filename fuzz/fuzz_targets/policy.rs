//! See `testkit::fuzzed`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| testkit::fuzzed::run("policy", input));
