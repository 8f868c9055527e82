//! Whatever bytes a body has: nothing panics, and the applier names the same resource as the receiver did.

use super::agree;

/// Two lines say what the headers are, the rest is the body; without them it is all body.
pub(crate) fn check(input: &[u8]) {
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
}
