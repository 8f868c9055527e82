//! Whatever bytes a body has: nothing panics, and the applier names the same resource as the receiver did.
//!
//! `cargo +nightly fuzz run extract` at the root of the repository.

#![no_main]

use libfuzzer_sys::fuzz_target;

mod agree;

fuzz_target!(|input: &[u8]| {
    // Two lines say what the headers are, the rest is the body; without them it is all body.
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let (content_type, encoding, body) = match (parts.next(), parts.next(), parts.next()) {
        (Some(content_type), Some(encoding), Some(body)) => (content_type, encoding, body),
        _ => (&b""[..], &b""[..], input),
    };
    agree::check(
        body,
        &[("content-type", content_type), ("content-encoding", encoding), ("x-topic", b"refund")],
    );
    agree::check(input, &[("x-topic", b"order")]);
});
