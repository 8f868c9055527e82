//! What a destination receives by HTTP: Ordem's message, the same at each attempt, and the headers that sign it.

use jiff::Timestamp;
use reqwest::RequestBuilder;
use signature::{Key, standard_webhooks};
use uuid::Uuid;

pub use db::outbox::Message;

/// Adds body and headers: `webhook-id` and `Idempotency-Key` are the effect's id at each attempt, the time is that
/// of the attempt, and each key signs. Without keys there is no signature.
pub fn sign(
    request: RequestBuilder,
    effect_id: Uuid,
    now: Timestamp,
    body: Vec<u8>,
    keys: &[Key],
) -> RequestBuilder {
    let id = effect_id.to_string();
    let seconds = now.as_second();
    let signatures: Vec<String> =
        keys.iter().map(|key| standard_webhooks::sign(&id, seconds, &body, key)).collect();
    let mut request =
        request.header("webhook-id", &id).header("webhook-timestamp", seconds).header("idempotency-key", &id);
    if !signatures.is_empty() {
        request = request.header("webhook-signature", signatures.join(" "));
    }
    request.body(body)
}
