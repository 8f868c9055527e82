//! Whatever bytes a form has: nothing panics, and the applier names the same resource as the receiver did.
//!
//! `cargo +nightly fuzz run form` at the root of the repository.

#![no_main]

use libfuzzer_sys::fuzz_target;

mod agree;

fuzz_target!(|input: &[u8]| {
    let form = ("content-type", &b"application/x-www-form-urlencoded"[..]);
    agree::check(input, &[form, ("x-topic", b"order")]);
    let latin = ("content-type", &b"application/x-www-form-urlencoded; charset=latin1"[..]);
    agree::check(input, &[latin, (":query", input)]);
});
