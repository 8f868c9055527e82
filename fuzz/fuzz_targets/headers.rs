//! `cargo +nightly fuzz run headers fuzz/corpus/headers fuzz/seeds/headers` at the root of the repository: any bytes as signatures and what is signed.

#![no_main]

#[path = "../targets/mod.rs"]
#[allow(dead_code, reason = "each target is one of several")]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::headers::check(input));
