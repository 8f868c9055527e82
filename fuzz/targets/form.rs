//! Whatever bytes a form has: nothing panics, and the applier names the same resource as the receiver did.

use super::agree;

/// The input is a form in UTF-8, and one in another charset with itself as the query.
pub(crate) fn check(input: &[u8]) {
    let form = ("content-type", &b"application/x-www-form-urlencoded"[..]);
    agree::check(input, &[form, ("x-topic", b"order")]);
    let latin = ("content-type", &b"application/x-www-form-urlencoded; charset=latin1"[..]);
    agree::check(input, &[latin, (":query", input)]);
}
