//! Digests as they stand in a header: which algorithm, how it is spelt, and its bytes without allocation.

use base64::Engine as _;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use base64::{
    alphabet,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde::Deserialize;

use crate::Refusal;

/// Longest digest of any algorithm here (SHA-512).
const BYTES_MAX: usize = 64;

/// Reads base64 with and without its padding: providers differ, and padding carries no information.
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads the alphabet of addresses, with and without padding.
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Hexadecimal; letters of either case are read, lower case is written.
    #[default]
    Hex,
    /// Base64; read with or without padding, written with it.
    Base64,
    /// Base64 in the alphabet of addresses; read with or without padding, written without.
    Base64Url,
}

impl Encoding {
    /// Spells `bytes`.
    pub fn encode(self, bytes: &[u8]) -> String {
        match self {
            Encoding::Hex => hex::encode(bytes),
            Encoding::Base64 => STANDARD.encode(bytes),
            Encoding::Base64Url => URL_SAFE_NO_PAD.encode(bytes),
        }
    }

    /// Reads bytes of any length.
    pub(crate) fn decode(self, text: &[u8]) -> Result<Vec<u8>, Refusal> {
        match self {
            Encoding::Hex => hex::decode(text).map_err(|_| Refusal::Malformed),
            Encoding::Base64 => BASE64.decode(text).map_err(|_| Refusal::Malformed),
            Encoding::Base64Url => BASE64_URL.decode(text).map_err(|_| Refusal::Malformed),
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
            Encoding::Hex => decode_hex(text, &mut room)?,
            Encoding::Base64 => BASE64.decode_slice(text, &mut room).map_err(|_| Refusal::Malformed)?,
            Encoding::Base64Url => {
                BASE64_URL.decode_slice(text, &mut room).map_err(|_| Refusal::Malformed)?
            }
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

/// What a byte is worth as a hexadecimal digit; [`NO_DIGIT`] for all that are none.
const HEX_DIGITS: [u8; 256] = hex_digits();
const NO_DIGIT: u8 = 0xff;

const fn hex_digits() -> [u8; 256] {
    let mut table = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        table[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    table
}

/// Decodes hexadecimal by a table: the letters of a digest are random, and a branch on each costs more than
/// hashing a small body.
fn decode_hex(text: &[u8], room: &mut [u8]) -> Result<usize, Refusal> {
    let (pairs, odd) = text.as_chunks::<2>();
    if !odd.is_empty() || pairs.len() > room.len() {
        return Err(Refusal::Malformed);
    }
    let mut seen = 0;
    for (out, [high, low]) in room.iter_mut().zip(pairs) {
        let (high, low) = (HEX_DIGITS[usize::from(*high)], HEX_DIGITS[usize::from(*low)]);
        seen |= high | low;
        *out = high << 4 | low;
    }
    // A digit is below 16, so only a byte that is none can set the high bits.
    if seen > 0x0f { Err(Refusal::Malformed) } else { Ok(pairs.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_is_decoded_as_the_hex_crate_does() {
        for high in 0..=255_u8 {
            for low in 0..=255_u8 {
                let (mut ours, mut theirs) = ([0], [0]);
                let text = [high, low];
                let decoded = decode_hex(&text, &mut ours).is_ok();
                assert_eq!(decoded, hex::decode_to_slice(text, &mut theirs).is_ok(), "{text:?}");
                assert!(!decoded || ours == theirs, "{text:?}");
            }
        }
        assert!(decode_hex(b"abc", &mut [0; 8]).is_err());
        assert!(decode_hex(b"aabb", &mut [0; 1]).is_err());
    }
}
