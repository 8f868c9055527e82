//! `cargo +nightly fuzz run extract fuzz/corpus/extract fuzz/seeds/extract` at the root of the repository: any bytes as bodies.

#![no_main]

#[path = "../targets/mod.rs"]
#[allow(dead_code, reason = "each target is one of several")]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::extract::check(input));
