//! What is verified and what is signed.

use crate::{Headers, Target};

/// A request as it came, before anything in it is believed.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The request's headers.
    pub headers: &'a dyn Headers,
    /// The bytes of the body as they came over the wire.
    pub body: &'a [u8],
    /// The receiver's time, in seconds since 1970; only schemes that sign a time look at it, and keys that end.
    pub now: i64,
    /// Where it was sent to.
    pub target: Target<'a>,
}

impl<'a> Request<'a> {
    /// A request of which only headers and body can be signed.
    pub fn new(headers: &'a dyn Headers, body: &'a [u8], now: i64) -> Self {
        Self { headers, body, now, target: Target::default() }
    }

    /// The same request with what is known of its target.
    #[must_use]
    pub fn to(mut self, target: Target<'a>) -> Self {
        self.target = target;
        self
    }
}

/// A message to sign.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// The message's id; only schemes that sign an id use it.
    pub id: &'a str,
    /// The time of signing, in seconds since 1970; only schemes that sign a time use it.
    pub unix_seconds: i64,
    /// The body's bytes.
    pub body: &'a [u8],
    /// Headers that the message will carry, where the scheme signs some.
    pub headers: &'a dyn Headers,
    /// Where it will be sent to.
    pub target: Target<'a>,
}

impl<'a> Message<'a> {
    /// A message of which only id, time and body can be signed.
    pub fn new(id: &'a str, unix_seconds: i64, body: &'a [u8]) -> Self {
        Self { id, unix_seconds, body, headers: &(), target: Target::default() }
    }
}

/// What makes a message acceptable: to be added to it before it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signed {
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Parameters of the query.
    pub query: Vec<(String, String)>,
    /// Values in the JSON body, by their paths.
    pub json: Vec<(String, String)>,
}

impl Signed {
    pub(crate) fn add(&mut self, other: Self) {
        self.headers.extend(other.headers);
        self.query.extend(other.query);
        self.json.extend(other.json);
    }
}

/// The request was signed with one of the live secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Which of the given keys matched (the first, if several do).
    pub key_index: usize,
}
