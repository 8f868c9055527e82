//! The `[verify]` table as it is written.

use serde::Deserialize;

use crate::scheme::SchemeError;
use crate::signed_spec::SignedSpec;
use crate::standard_webhooks::StandardSpec;

/// The `[verify]` table of a profile, by its `kind`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SchemeSpec {
    /// A keyed hash.
    Hmac(SignedSpec),
    /// A hash of a text that contains the secret.
    Digest(SignedSpec),
    /// Ed25519 with the provider's public key.
    Ed25519(SignedSpec),
    /// RSA PKCS#1 v1.5 with the provider's public key or certificate.
    Rsa(SignedSpec),
    /// The secret itself.
    Token(SignedSpec),
    /// The secret itself as `Authorization: Bearer`.
    Bearer(NamedSpec),
    /// HTTP Basic; the secret is `user:password`.
    Basic(NamedSpec),
    /// Standard Webhooks: id, time and body, several signatures in one header.
    StandardWebhooks(StandardSpec),
    /// Every check must accept.
    AllOf(ChecksSpec),
    /// One check must accept.
    AnyOf(ChecksSpec),
    /// Nothing is signed and nothing is believed.
    Unsigned(UnsignedSpec),
}

impl SchemeSpec {
    pub(crate) fn refuse_foreign(&self) -> Result<(), SchemeError> {
        match self {
            SchemeSpec::Hmac(spec) => spec.refuse_foreign("hmac"),
            SchemeSpec::Digest(spec) => spec.refuse_foreign("digest"),
            SchemeSpec::Ed25519(spec) => spec.refuse_foreign("ed25519"),
            SchemeSpec::Rsa(spec) => spec.refuse_foreign("rsa"),
            SchemeSpec::Token(spec) => spec.refuse_foreign("token"),
            _ => Ok(()),
        }
    }
}

/// `bearer` and `basic`.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedSpec {
    /// Which of the source's `more_secrets` count, instead of its `secrets`.
    pub secrets: Option<String>,
}

/// `all-of` and `any-of`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChecksSpec {
    /// The checks, each as a `[verify]` table.
    pub checks: Vec<SchemeSpec>,
}

/// `unsigned`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnsignedSpec {
    /// Why that is acceptable.
    pub because: String,
}
