//! Public keys of providers that sign with a private one.

use aws_lc_rs::signature::{ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine as _;

use crate::digest::BASE64;
use crate::{KeyError, KeyForm};

/// Length of an Ed25519 key.
const ED25519_BYTES: usize = 32;

/// What stands before the key's bytes in its DER: the algorithm, and the head of the bit string.
const ED25519_DER: &[u8] = &[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The 32 bytes of an Ed25519 key: raw in hexadecimal or base64, or the end of a PEM's DER.
pub(crate) fn ed25519(form: KeyForm, text: &str) -> Result<Vec<u8>, KeyError> {
    let wrong = KeyError::Encoding("Ed25519 public key");
    let bytes = match form {
        KeyForm::Hex => hex::decode(text.trim()).map_err(|_| wrong.clone())?,
        KeyForm::Base64 | KeyForm::Text => BASE64.decode(text.trim()).map_err(|_| wrong.clone())?,
        KeyForm::Pem => {
            // By its label and its whole head: the last bytes of a private key or of another curve's are no key of ours.
            let (label, der) = pem(text)?;
            let key = der.strip_prefix(ED25519_DER).filter(|_| label == "PUBLIC KEY");
            key.ok_or(wrong.clone())?.to_vec()
        }
    };
    if bytes.len() == ED25519_BYTES { Ok(bytes) } else { Err(wrong) }
}

/// The DER of an RSA public key, from a PEM public key or certificate.
pub(crate) fn rsa(text: &str) -> Result<Vec<u8>, KeyError> {
    let (label, der) = pem(text)?;
    let wrong = || KeyError::Encoding("X.509 certificate or PEM public key");
    let key = match label {
        "PUBLIC KEY" | "RSA PUBLIC KEY" => der,
        "CERTIFICATE" => {
            let (_, certificate) = x509_parser::parse_x509_certificate(&der).map_err(|_| wrong())?;
            certificate.public_key().raw.to_vec()
        }
        _ => return Err(wrong()),
    };
    // A key that nothing can be verified with is a fault at start, not a refusal of every request.
    let usable = ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &key);
    usable.map_err(|_| KeyError::Encoding("RSA public key of 2048 to 8192 bits"))?;
    Ok(key)
}

/// Label and bytes of the first PEM block.
fn pem(text: &str) -> Result<(&str, Vec<u8>), KeyError> {
    let wrong = || KeyError::Encoding("PEM");
    let (_, after) = text.split_once("-----BEGIN ").ok_or_else(wrong)?;
    let (label, after) = after.split_once("-----").ok_or_else(wrong)?;
    let (inside, _) = after.split_once("-----END").ok_or_else(wrong)?;
    let letters: String = inside.chars().filter(|letter| !letter.is_whitespace()).collect();
    Ok((label, BASE64.decode(letters).map_err(|_| wrong())?))
}

pub(crate) fn ed25519_matches(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
}

pub(crate) fn rsa_matches(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key).verify(message, signature).is_ok()
}
