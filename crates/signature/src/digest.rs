//! Digests as they stand in a header: which algorithm, how it is spelt, and its bytes without allocation.

use base64::Engine as _;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use base64::{alphabet, engine::general_purpose::STANDARD};
use serde::Deserialize;

use crate::Refusal;

/// Longest digest of any algorithm here (SHA-512).
const BYTES_MAX: usize = 64;

/// Reads base64 with and without its padding: providers differ, and padding carries no information.
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The keyed hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Algorithm {
    /// HMAC with SHA-1: old providers only.
    #[serde(rename = "hmac-sha1")]
    HmacSha1,
    /// HMAC with SHA-256: what nearly everyone uses.
    #[serde(rename = "hmac-sha256")]
    HmacSha256,
    /// HMAC with SHA-512.
    #[serde(rename = "hmac-sha512")]
    HmacSha512,
}

impl Algorithm {
    /// Length of the digest in bytes.
    pub fn digest_bytes(self) -> usize {
        match self {
            Algorithm::HmacSha1 => 20,
            Algorithm::HmacSha256 => 32,
            Algorithm::HmacSha512 => 64,
        }
    }
}

/// How the digest's bytes are spelt in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Hexadecimal; letters of either case are read, lower case is written.
    Hex,
    /// Base64; read with or without padding, written with it.
    Base64,
}

impl Encoding {
    /// Spells `bytes`.
    pub fn encode(self, bytes: &[u8]) -> String {
        match self {
            Encoding::Hex => hex::encode(bytes),
            Encoding::Base64 => STANDARD.encode(bytes),
        }
    }
}

/// The bytes of one digest, held on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest {
    bytes: [u8; BYTES_MAX],
    len: usize,
}

impl Digest {
    /// Reads a digest of exactly the length that `algorithm` gives.
    pub(crate) fn decode(text: &[u8], encoding: Encoding, algorithm: Algorithm) -> Result<Self, Refusal> {
        // One spare group, because the base64 decoder wants room for its estimate.
        let mut room = [0; BYTES_MAX + 3];
        let len = match encoding {
            Encoding::Hex => {
                let len = text.len() / 2;
                let out = room.get_mut(..len).ok_or(Refusal::Malformed)?;
                hex::decode_to_slice(text, out).map_err(|_| Refusal::Malformed)?;
                len
            }
            Encoding::Base64 => BASE64.decode_slice(text, &mut room).map_err(|_| Refusal::Malformed)?,
        };
        if len != algorithm.digest_bytes() {
            return Err(Refusal::Malformed);
        }
        let mut bytes = [0; BYTES_MAX];
        bytes[..len].copy_from_slice(&room[..len]);
        Ok(Self { bytes, len })
    }

    /// The digest's bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
