//! The names of algorithms, by the kind of scheme that may use them.

use crate::Algorithm;
use crate::scheme::SchemeError;
use crate::signed::{Hash, Made};
use crate::signed_spec::SignedSpec;

pub(crate) fn hmac(spec: &SignedSpec) -> Result<Algorithm, SchemeError> {
    match spec.algorithm.as_deref().unwrap_or("hmac-sha256") {
        "hmac-sha1" => Ok(Algorithm::HmacSha1),
        "hmac-sha256" => Ok(Algorithm::HmacSha256),
        "hmac-sha512" => Ok(Algorithm::HmacSha512),
        other => Err(SchemeError::Algorithm(other.to_owned(), "hmac-sha1, hmac-sha256, hmac-sha512")),
    }
}

pub(crate) fn digest(spec: &SignedSpec) -> Result<Hash, SchemeError> {
    match spec.algorithm.as_deref().unwrap_or("sha256") {
        "sha1" => Ok(Hash::Sha1),
        "sha256" => Ok(Hash::Sha256),
        "sha512" => Ok(Hash::Sha512),
        other => Err(SchemeError::Algorithm(other.to_owned(), "sha1, sha256, sha512")),
    }
}

pub(crate) fn ed25519(spec: &SignedSpec) -> Result<Made, SchemeError> {
    match spec.prehash.as_deref() {
        None => Ok(Made::Ed25519 { prehashed: false }),
        Some("sha256") => Ok(Made::Ed25519 { prehashed: true }),
        Some(other) => Err(SchemeError::Algorithm(other.to_owned(), "sha256")),
    }
}

pub(crate) fn rsa(spec: &SignedSpec) -> Result<Made, SchemeError> {
    match spec.hash.as_deref().unwrap_or("sha256") {
        "sha256" => Ok(Made::Rsa),
        other => Err(SchemeError::Algorithm(other.to_owned(), "sha256")),
    }
}
