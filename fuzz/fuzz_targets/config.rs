//! See `switchboard::probe`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| switchboard::probe::check(input));
