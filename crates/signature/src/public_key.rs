//! Public keys of providers that sign with a private one.

use aws_lc_rs::signature::{ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine as _;

use crate::digest::BASE64;
use crate::{KeyError, KeyForm};

/// Length of an Ed25519 key.
const ED25519_BYTES: usize = 32;

/// The 32 bytes of an Ed25519 key: raw in hexadecimal or base64, or the end of a PEM's DER.
pub(crate) fn ed25519(form: KeyForm, text: &str) -> Result<Vec<u8>, KeyError> {
    let wrong = KeyError::Encoding("Ed25519 public key");
    let bytes = match form {
        KeyForm::Hex => hex::decode(text.trim()).map_err(|_| wrong.clone())?,
        KeyForm::Base64 | KeyForm::Text => BASE64.decode(text.trim()).map_err(|_| wrong.clone())?,
        KeyForm::Pem => {
            let (_, der) = pem(text)?;
            let start = der.len().checked_sub(ED25519_BYTES).ok_or(wrong.clone())?;
            der[start..].to_vec()
        }
    };
    if bytes.len() == ED25519_BYTES { Ok(bytes) } else { Err(wrong) }
}

/// The DER of an RSA public key, from a PEM public key or certificate.
pub(crate) fn rsa(text: &str) -> Result<Vec<u8>, KeyError> {
    let (label, der) = pem(text)?;
    if label == "PUBLIC KEY" || label == "RSA PUBLIC KEY" {
        return Ok(der);
    }
    let wrong = || KeyError::Encoding("X.509 certificate or PEM public key");
    if label != "CERTIFICATE" {
        return Err(wrong());
    }
    let (_, certificate) = x509_parser::parse_x509_certificate(&der).map_err(|_| wrong())?;
    Ok(certificate.public_key().raw.to_vec())
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
