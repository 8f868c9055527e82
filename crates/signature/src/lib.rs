//! How a provider signs what it sends, and how we sign what we send.
//!
//! Bytes, headers and secrets go in; out comes which secret matched, or the exact reason why none did.
//! The crate is pure: it knows no HTTP framework, does no I/O and reads no clock (the caller passes "now").
//!
//! The usual way:
//!
//! ```
//! use secrecy::SecretString;
//! use signature::{Message, Request, Scheme, SchemeSpec};
//!
//! let spec: SchemeSpec = toml::from_str(
//!     r#"
//!     kind = "hmac"
//!     header = "x-loja-signature"
//!     algorithm = "hmac-sha256"
//!     encoding = "hex"
//!     "#,
//! )?;
//! let scheme = Scheme::compile(&spec)?;
//! let keys = [scheme.key(&SecretString::from("a shared secret"))?];
//!
//! let message = Message::new("evt_1", 1_767_323_045, b"{}");
//! let headers = scheme.sign(&message, &keys[0])?;
//! let request = Request::new(&headers, b"{}", 1_767_323_045);
//! assert_eq!(scheme.verify(&request, &keys)?.key_index, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algorithm;
mod digest;
mod headers;
mod hmac_scheme;
mod json;
mod key;
mod place;
mod public_key;
mod refusal;
mod scheme;
mod signed;
mod signed_spec;
pub mod standard_webhooks;
mod target;
mod template;

pub use digest::{Algorithm, Encoding};
pub use headers::Headers;
pub use key::{Key, KeyError, KeyForm};
pub use refusal::Refusal;
pub use scheme::{
    ChecksSpec, Message, NamedSpec, Request, Scheme, SchemeError, SchemeSpec, SignError, Signed,
    UnsignedSpec, Verified,
};
pub use signed_spec::{Format, Sides, SignedSpec, TimestampSpec, Unit};
pub use standard_webhooks::StandardSpec;
pub use target::Target;
pub use template::{SegmentSpec, SegmentTable, TextSpec};
