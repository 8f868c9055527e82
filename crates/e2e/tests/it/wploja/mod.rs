//! Source `wploja`, as its document on order webhooks for a WordPress site asks for it, on real processes.

mod attempts;
mod recovery;
mod rules;
mod store;
