//! Checks a call by the Standard Webhooks scheme.
//!
//! Written from the specification and on purpose apart from the `signature` crate: a system at the other end of the
//! wire would not share its code, and a mistake there must not hide itself here.

use axum::http::HeaderMap;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use sha2::Sha256;

/// How far the sender's clock may be from ours.
const TOLERANCE_S: i64 = 300;

/// The key that signs calls.
#[derive(Debug, Clone)]
pub struct Secret {
    key: SecretSlice<u8>,
}

impl Secret {
    /// Reads a secret: base64 after `whsec_`, else the text itself.
    ///
    /// # Errors
    /// When what follows `whsec_` is not base64.
    pub fn parse(text: &SecretString) -> Result<Self, base64::DecodeError> {
        let text = text.expose_secret();
        let key = match text.strip_prefix("whsec_") {
            Some(encoded) => STANDARD.decode(encoded)?,
            None => text.as_bytes().to_vec(),
        };
        Ok(Self { key: key.into() })
    }

    /// The signature of one message, without its scheme.
    fn mac(&self, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.expose_secret()).ok()?;
        mac.update(id.as_bytes());
        mac.update(b".");
        mac.update(timestamp.as_bytes());
        mac.update(b".");
        mac.update(body);
        Some(mac)
    }

    /// The value of `webhook-signature` for one message.
    pub fn sign(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        let mac = self.mac(id, timestamp, body);
        let bytes = mac.map(|mac| mac.finalize().into_bytes());
        format!("v1,{}", STANDARD.encode(bytes.unwrap_or_default()))
    }
}

/// A call that the secret signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The key under which its work is done once.
    pub idempotency_key: String,
}

/// Why a call is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A header is missing or unreadable.
    MissingHeader,
    /// It was signed too long ago, or too far ahead.
    Expired,
    /// No signature fits.
    Mismatch,
    /// `Idempotency-Key` is not the `webhook-id`.
    OtherKey,
}

impl Refusal {
    /// Its name in the book.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingHeader => "missing header",
            Self::Expired => "expired",
            Self::Mismatch => "signature mismatch",
            Self::OtherKey => "idempotency key is not the webhook id",
        }
    }
}

/// Checks signature, age and idempotency key of a call.
///
/// # Errors
/// The reason why the call is not believed.
pub fn verify(
    secret: &Secret,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<Verified, Refusal> {
    let read = |name| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.ok_or(Refusal::MissingHeader)
    };
    let id = read("webhook-id")?;
    let timestamp = read("webhook-timestamp")?;
    let signatures = read("webhook-signature")?;
    let signed_s: i64 = timestamp.parse().map_err(|_| Refusal::MissingHeader)?;
    if now.as_second().abs_diff(signed_s) > TOLERANCE_S as u64 {
        return Err(Refusal::Expired);
    }
    let fits = |signature: &str| {
        let encoded = signature.strip_prefix("v1,")?;
        let bytes = STANDARD.decode(encoded).ok()?;
        secret.mac(id, timestamp, body)?.verify_slice(&bytes).ok()
    };
    if signatures.split(' ').find_map(fits).is_none() {
        return Err(Refusal::Mismatch);
    }
    if read("idempotency-key")? != id {
        return Err(Refusal::OtherKey);
    }
    Ok(Verified { idempotency_key: id.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_S: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;

    fn headers(signature: &str, key: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".parse().unwrap());
        headers.insert("webhook-timestamp", NOW_S.to_string().parse().unwrap());
        headers.insert("webhook-signature", signature.parse().unwrap());
        headers.insert("idempotency-key", key.parse().unwrap());
        headers
    }

    fn check(signature: &str, key: &str, now_s: i64) -> Result<(), Refusal> {
        let secret = SecretString::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let secret = Secret::parse(&secret).unwrap();
        let now = Timestamp::from_second(now_s).unwrap();
        verify(&secret, &headers(signature, key), BODY, now).map(|_| ())
    }

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[test]
    fn the_published_vector_is_believed_alone_and_among_others() {
        assert_eq!(check(SIGNATURE, ID, NOW_S), Ok(()));
        assert_eq!(check(&format!("v1,AAAA v2,x {SIGNATURE}"), ID, NOW_S), Ok(()));
    }

    #[test]
    fn an_old_a_wrong_and_a_rekeyed_call_are_refused_with_the_reason() {
        assert_eq!(check(SIGNATURE, ID, NOW_S + 301), Err(Refusal::Expired));
        assert_eq!(check("v1,AAAA", ID, NOW_S), Err(Refusal::Mismatch));
        assert_eq!(check("nonsense", ID, NOW_S), Err(Refusal::Mismatch));
        assert_eq!(check(SIGNATURE, "other", NOW_S), Err(Refusal::OtherKey));
    }

    #[test]
    fn a_secret_without_prefix_is_the_text_itself() {
        let secret = Secret::parse(&SecretString::from("plain")).unwrap();
        let mut headers = headers(&secret.sign(ID, &NOW_S.to_string(), BODY), ID);
        let now = Timestamp::from_second(NOW_S).unwrap();
        assert!(verify(&secret, &headers, BODY, now).is_ok());
        headers.remove("webhook-id");
        assert_eq!(verify(&secret, &headers, BODY, now), Err(Refusal::MissingHeader));
    }
}
