//! `cargo +nightly fuzz run form fuzz/corpus/form fuzz/seeds/form` at the root of the repository: any bytes as forms.

#![no_main]

#[path = "../targets/mod.rs"]
#[allow(dead_code, reason = "each target is one of several")]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::form::check(input));
