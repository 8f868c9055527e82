//! What a profile makes of bytes, rule by rule, with the shipped `loja` and with small profiles of its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api;
mod cases;
mod envelopes;
mod format;
mod full;
mod lists;
mod properties;
mod reading;
mod rules;
mod samples;
mod seeds;
mod shipped;
mod support;
