//! A provider as data: how it signs, names, dates and numbers things.
//!
//! One TOML file describes one provider. This crate reads that file and turns bytes into what the rest works
//! with: [`Profile::envelopes`] for the receiver (what to store), [`Profile::read`] for the applier (event to
//! fact), [`List::page`] and [`Profile::api_envelope`] for the reconciler (the provider's own lists).
//! It is pure: no SQL, no HTTP, no clock; and whatever bytes come in, nothing here fails or panics on them.

mod api;
mod auth;
mod cel;
mod compile;
mod decode;
mod dedup;
mod document;
mod edits;
mod envelope;
mod exchanges;
mod fault;
mod fetch;
mod field;
mod form;
mod handshake;
mod instant;
mod item;
mod kept;
mod leaf;
mod list;
mod lists;
mod money;
mod page;
mod paging;
mod place;
mod places;
mod profile;
mod rate;
mod reader;
mod reading;
mod rule;
mod rules;
#[cfg(feature = "schema")]
mod schema;
mod shape;
mod shown;
mod spec;
mod version;
mod watch;
mod xml;

pub use api::{Api, Get, Reread};
pub use auth::{Auth, ClientCredentials, Credential, OAuth, TokenEndpoint};
pub use decode::INFLATED_BYTES_MAX;
pub use document::{ELEMENTS_MAX, NESTING_MAX, Unreadable};
pub use domain::Origin;
pub use envelope::{Envelope, Incoming, TooLarge};
pub use fault::Fault;
pub use fetch::{Fetch, TIE};
pub use handshake::Handshake;
pub use kept::KeptHeaders;
pub use list::{Address, Bound, Call, ItemOf, List, SinceFormat};
pub use money::decimals;
pub use page::{Page, PageError};
pub use paging::Paging;
pub use place::QUERY;
pub use profile::{Answers, Profile, Setup};
pub use rate::{Rate, ResetUnit};
pub use reader::IDENTIFIER_BYTES_MAX;
pub use reading::{Reading, Stored};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use watch::{Enable, Subscription, Watch};
